#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "balance/dispatcher.h"
#include "base/clock.h"
#include "link/worker_handle.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

struct Reservation;

/// A job's windows on the pool. It exists as long as the pool counts on the job, or an engine or reservation of it is
/// there.
struct PoolJobRecord {
  std::deque<std::shared_ptr<Reservation>> waiting{};  // in the order in which they came
  std::map<DeviceIndex, JobEngine::Use> uses{};
  int moves = 0;
  bool ended = false;    // the pool has forgotten it: nothing of it is granted any more
  bool granted = false;  // capacity, to the engine that it has now
};

/// Capacity on a device that is requested or held: for one window, or for a whole file. All of it is guarded by the
/// pool's lock.
struct Reservation {
  JobKey job = 0;
  std::shared_ptr<PoolJobRecord> record{};
  Seconds audio{};
  GrantId grant = 0;  // 0: it waits
  DeviceIndex device = 0;
  int generation = 0;  // PoolMember::generation of the device's worker
  std::shared_ptr<WorkerHandle> worker{};
  std::optional<Error> refused{};  // it will not be granted any more, and why
  bool decoded = false;            // at least one of its windows; not only its language detected
  std::condition_variable changed{};
};

/// One device with its present worker.
struct PoolMember {
  PooledDevice facts;
  std::shared_ptr<WorkerHandle> worker{};  // starting or serving; none between two
  std::optional<Ready> ready{};            // what the latest worker reported when it got ready
  int generation = 0;                      // counts workers; a loss is reported once for each
  bool serving = false;
  bool was_away = false;                     // did not get ready: a canary decides about its return
  std::optional<HealthEvent> fault_event{};  // reported by the driver: no worker is started; lost or quarantine
  std::string fault{};                       // in its latest words
  std::string overruled{};                   // the driver's words in spite of which a user has resumed it
  std::optional<Error> loss{};               // why the present worker process was lost, as noticed by a thread that
                                             // waited for an answer
  std::optional<Error> gone{};               // for good
  std::optional<Error> last_error{};         // for people
  std::int64_t restarts = 0;
  std::size_t changes_reported = 0;  // how many changes of its health were reported
  std::size_t memory_reported = 0;   // how many changes of its memory were reported
  std::size_t memory_logged = 0;     // likewise, in the log
  bool gone_reported = false;
  Seconds progress_at{};          // last answer, or first window after a pause, or its worker got ready
  std::optional<Grant> canary{};  // to be run
  bool canary_runs = false;
  std::condition_variable changed{};  // for its monitor
};

/// Everything that the threads of a pool share, for one that holds its lock; decisions are the dispatcher's, and every
/// change is followed by handing out what it grants.
struct PoolState {
  explicit PoolState(PoolPlan given);

  Seconds now() const { return Seconds(Clock::real().now() - started) / options.time; }
  Clock::Instant instant(Seconds at) const {
    return started + std::chrono::duration_cast<Clock::Instant::duration>(at * options.time);
  }

  PoolView view();

  /// Hands out everything that can start. Call after every change.
  void pump();
  /// The worker of this generation is lost: its reservations wait again, or are refused. Once per generation.
  void lost(DeviceIndex device, int generation, const Error& error, Blame why);
  /// Refuses every waiting and every later reservation.
  void end(const Error& why);
  /// The same for the reservations of one job.
  void end_job(JobKey job);
  /// Records the first grant of a job, with the devices as they were before.
  void note_first_grant(PoolJobRecord& job, const Grant& grant);
  /// Logs where devices have run out of memory, or take as many windows as before again.
  void log_memory();
  /// A reservation without a grant goes back to its job's, in front where it `was_granted`; or is refused.
  void line_up(const std::shared_ptr<Reservation>& reservation, bool was_granted) const;
  /// The record of a job, made when there is none.
  std::shared_ptr<PoolJobRecord> record_of(JobKey job);
  /// A device has a worker, and is neither lost nor in quarantine.
  bool anything_serves() const;
  /// When no device can come back, or none has for too long: the end, and why.
  void give_up_if_hopeless();
  std::string reasons() const;

  const PoolPlan options;
  const Clock::Instant started;
  Dispatcher dispatcher;
  std::deque<PoolMember> members;
  std::map<JobKey, std::shared_ptr<PoolJobRecord>> jobs;  // that have not ended
  std::map<GrantId, std::shared_ptr<Reservation>> granted;
  std::vector<FirstGrant> first_grants;  // not fetched yet
  std::optional<Error> over;             // nothing is granted any more
  bool stopping = false;
  Seconds served_at{};            // a device was in service then
  std::condition_variable ready;  // some device is, or all have failed
  std::condition_variable time;   // for the timekeeper: something changed
};

/// A pool's state behind its lock. Thread-safe. The only way to the state is a Lock, so no attribute of base/mutex.h is
/// needed, nor could one follow a lock that is handed out.
class PoolShared {
 public:
  explicit PoolShared(PoolPlan plan) : state_(std::move(plan)) {}

  /// The state, as long as this holds the lock.
  class Lock {
   public:
    explicit Lock(PoolShared& pool) : held_(pool.mutex_), state_(pool.state_) {}
    PoolState* operator->() const { return &state_; }
    PoolState& operator*() const { return state_; }
    /// To be waited with.
    std::unique_lock<std::mutex>& held() { return held_; }

   private:
    std::unique_lock<std::mutex> held_;
    PoolState& state_;
  };
  Lock lock() { return Lock(*this); }

  // What never changes, without the lock.
  const PoolPlan& plan() const { return state_.options; }
  Seconds now() const { return state_.now(); }

 private:
  std::mutex mutex_{};
  PoolState state_;
};

/// The highest bit of a canary window's id separates it from callers' windows.
inline constexpr WindowId kCanaryBit = WindowId{1} << 63;

/// For the log: the only device's worker is lost with so many windows.
std::string again_text(std::size_t windows);

/// Keeps one device served: starts its worker, watches it, runs canaries, starts it again. Until the pool stops or the
/// device has failed for good. A thread of its own.
void monitor_device(PoolShared& pool, DeviceIndex device);

/// The windows of one job on the pool.
std::unique_ptr<JobEngine> make_job_engine(std::shared_ptr<PoolShared> pool, const PoolJob& job);

}  // namespace tutti
