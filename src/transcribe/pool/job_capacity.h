#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transcribe/pool/pool_state.h"

namespace tutti {

/// What a job has of its pool's devices, or waits for, and what it has had. Thread-safe; what takes the pool's state is
/// called under its lock.
class JobCapacity {
 public:
  /// `pool` outlives it.
  JobCapacity(PoolShared& pool, const PoolJob& job);
  JobCapacity(const JobCapacity&) = delete;
  JobCapacity& operator=(const JobCapacity&) = delete;
  ~JobCapacity();

  /// What a call needs of its reservation.
  struct Granted {
    std::shared_ptr<WorkerHandle> worker;
    GrantId grant = 0;
    DeviceIndex device = 0;
    int generation = 0;
  };

  /// Every window has a reservation of its own, but those of a whole file share one.
  std::shared_ptr<Reservation> reserve(PoolState& pool, Seconds audio);
  Result<Granted> wait_for(Reservation& reservation);
  /// Whether a failure is the device's, so that the window is to be tried elsewhere. Else it is the caller's answer.
  bool moves(const std::shared_ptr<Reservation>& reservation, const Granted& granted, const Error& error,
             WindowId window);
  /// The reservation of a window is not needed any more; that of a whole file goes with this.
  void settle(PoolState& pool, Reservation& reservation) {
    if (!job_.whole) give_up(pool, reservation);
  }

  /// The length of its audio, as found since.
  void correct_length(Seconds audio);
  /// A device has answered: so much of the audio, in so much of its time.
  void answered(const Granted& granted, Seconds audio, Seconds busy);
  JobEngine::Use use() const;
  /// As JobEngine has them.
  std::string where() const;
  void when_granted(std::function<void()> fn) { when_granted_ = std::move(fn); }
  /// Nothing is waited for any more.
  void cancel(PoolState&) { cancelled_ = true; }

 private:
  void give_up(PoolState& pool, Reservation& reservation);

  PoolShared& pool_;
  const PoolJob job_;
  std::shared_ptr<PoolJobRecord> record_{};
  std::shared_ptr<Reservation> whole_{};
  std::function<void()> when_granted_{};  // until it was called
  bool cancelled_ = false;
  Seconds length_{};    // length of the job's audio; 0: not known
  Seconds credited_{};  // part of `length_` that counts as transcribed by a device
};

}  // namespace tutti
