#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "feed/ring/ring.h"

namespace tutti {

/// The clock of a ring, its device, and the time that reading, making ready and stepping take. It moves on only where
/// neither of the ring's two threads can do anything before it does, so what comes out is the ring's doing and not the
/// machine's.
class RingTime final : public Clock, public RingDevice {
 public:
  /// `preparing`: the time of each transfer; no more are made. Empty: they take none.
  explicit RingTime(int depth, std::vector<Seconds> preparing = {}) : preparing_(std::move(preparing)), depth_(depth) {}

  /// A thread that has announced a request to the ring reads the clock first.
  Instant now() const override {
    const std::lock_guard lock(mutex_);
    const auto at = now_;
    for (Thread& thread : threads_)
      if (thread.id == std::this_thread::get_id() && thread.does == Does::announce) thread.does = Does::request;
    move_on();
    return at;
  }

  void read(Seconds time) { spend(threads_[kReader], time); }
  void step(Seconds time) { spend(threads_[kConsumer], time); }
  void reader_requests() { set_activity(threads_[kReader], Does::announce); }
  void consumer_requests() { set_activity(threads_[kConsumer], Does::announce); }
  void reader_ends() { set_activity(threads_[kReader], Does::nothing); }
  void consumer_has(int depth) {
    const std::lock_guard lock(mutex_);
    depth_ = depth;
  }

  Result<void> begin_transfer(std::size_t, const Batch& batch) override {
    if (!preparing_.empty()) spend(threads_[kReader], preparing_.at(static_cast<std::size_t>(batch.index)));
    const std::lock_guard lock(mutex_);
    ++transfers_;
    threads_[kReader].does = Does::work;
    return {};
  }
  void use(std::size_t) override {
    const std::lock_guard lock(mutex_);
    ++uses_;
    threads_[kConsumer].does = Does::work;
  }
  void release(std::size_t) override {
    const std::lock_guard lock(mutex_);
    ++releases_;
  }

 private:
  enum class Does { work, sleep, announce, request, nothing };
  struct Thread {
    std::thread::id id{};
    Does does = Does::work;
    Instant until{};
  };
  static constexpr std::size_t kReader = 0, kConsumer = 1;

  void set_activity(Thread& thread, Does does) {
    const std::lock_guard lock(mutex_);
    thread.id = std::this_thread::get_id();
    thread.does = does;
    move_on();
  }

  void spend(Thread& thread, Seconds time) {
    std::unique_lock lock(mutex_);
    thread.id = std::this_thread::get_id();
    thread.does = Does::sleep;
    thread.until = now_ + std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    move_on();
    changed_.wait(lock, [&] { return thread.does != Does::sleep; });
  }

  /// Whether a thread goes on without the time: the ring has a slot for the reader, or a batch for the consumer.
  bool can_go_on(std::size_t which) const {
    const Does does = threads_[which].does;
    if (does == Does::sleep || does == Does::nothing) return false;
    if (does != Does::request) return true;
    if (which == kReader) return transfers_ - releases_ < depth_;
    return transfers_ > uses_ || threads_[kReader].does == Does::nothing;
  }

  void move_on() const {
    if (can_go_on(kReader) || can_go_on(kConsumer)) return;
    Thread* next = nullptr;
    for (Thread& thread : threads_)
      if (thread.does == Does::sleep && (!next || thread.until < next->until)) next = &thread;
    if (!next) return;
    now_ = next->until;
    next->does = Does::work;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable Instant now_ = Instant(std::chrono::seconds(1));
  mutable std::array<Thread, 2> threads_{};
  std::vector<Seconds> preparing_;
  int depth_;
  int transfers_ = 0, uses_ = 0, releases_ = 0;
};

}  // namespace tutti
