// How busy a ring keeps its device, in a time of its own: it moves on only where neither of the ring's two threads can
// do anything before it does, so what comes out is the ring's doing and not the machine's.

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "feed/ring/ring.h"
#include "feed/ring/ring_depth.h"
#include "support/stalling_reads.h"

namespace tutti {
namespace {

/// The clock of a ring, its device, and the time that reading and stepping take.
class RingTime final : public Clock, public RingDevice {
 public:
  explicit RingTime(int depth) : depth_(depth) {}

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

  Result<void> begin_transfer(std::size_t, const Batch&) override {
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
  int depth_;
  int transfers_ = 0, uses_ = 0, releases_ = 0;
};

constexpr Seconds kStep{0.03};

/// What a ring comes to with these reads and steps of 30 ms.
RingReport run(const std::vector<Seconds>& reads, int depth, int most_depth) {
  RingTime time(depth);
  std::size_t next = 0;
  DeviceRing ring(
      [&]() -> Result<std::optional<Batch>> {
        if (next == reads.size()) {
          time.reader_ends();
          return std::nullopt;
        }
        time.read(reads[next++]);
        time.reader_requests();
        return Batch{};
      },
      time, {.depth = depth, .most_depth = most_depth, .clock = &time});
  for (;;) {
    time.consumer_requests();
    const auto slot = ring.next();
    if (!slot || !*slot) return ring.report();
    time.consumer_has(ring.report().depth);
    time.step(kStep);
  }
}

TEST(RingTime, DeviceUtilisationMatchesSimulationAtAnyDepth) {
  const auto reads = stalling_reads(500);
  const std::vector<Seconds> steps{kStep};
  double before = 0;
  for (int depth = 1; depth <= 16; ++depth) {
    const double busy = run(reads, depth, depth).utilisation();
    EXPECT_NEAR(busy, ring_utilisation(reads, steps, depth), 0.005) << depth;
    EXPECT_GE(busy, before - 1e-9) << depth;
    if (depth >= 10) {
      EXPECT_GE(busy, 0.95) << depth << ": a stall is as long as ten steps";
    }
    before = busy;
  }
  EXPECT_NEAR(run(reads, 3, 3).utilisation(), 0.874, 0.005);
  const double serial = kStep / (kStep + Seconds(0.005) + Seconds(0.3) / 50.0);
  EXPECT_LT(serial, run(reads, 1, 1).utilisation() - 0.1) << "reading and stepping in turn";
}

TEST(RingTime, TheRingDeepensItselfAsFarAsStallsPayAndMemoryAllows) {
  const auto reads = stalling_reads(500);
  const auto tuned = run(reads, 3, 16);
  EXPECT_GE(tuned.depth, 9);
  EXPECT_LE(tuned.depth, 12);
  EXPECT_GE(tuned.utilisation(), run(reads, 3, 3).utilisation() + 0.05);
  EXPECT_EQ(run(reads, 3, 6).depth, 6) << "memory is the limit";
  EXPECT_EQ(run(std::vector<Seconds>(500, Seconds(0.005)), 3, 16).depth, 3) << "nothing stalls";
}

}  // namespace
}  // namespace tutti
