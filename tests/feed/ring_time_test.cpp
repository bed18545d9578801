// How busy a ring keeps its device, in a time of its own: it moves on only where neither of the ring's two threads can
// do anything before it does, so what comes out is the ring's doing and not the machine's.

#include "support/ring_time.h"

#include <gtest/gtest.h>

#include <vector>

#include "feed/ring/ring.h"
#include "feed/ring/ring_depth.h"
#include "support/stalling_reads.h"

namespace tutti {
namespace {

constexpr Seconds kStep{0.03};

/// What a ring comes to with these reads and steps of 30 ms.
RingReport run(const std::vector<Seconds>& reads, RingOptions options) {
  RingTime time(options.depth);
  options.clock = &time;
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
      time, options);
  for (;;) {
    time.consumer_requests();
    const auto slot = ring.next();
    if (!slot || !*slot) return ring.report();
    time.consumer_has(ring.report().depth);
    time.step(kStep);
  }
}

RingReport run(const std::vector<Seconds>& reads, int depth, int most_depth) {
  return run(reads, {.depth = depth, .most_depth = most_depth});
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

TEST(RingTime, KnownDepthIsTakenAsFarAsBatchesFit) {
  const std::vector<Seconds> few(10, Seconds(0.005));
  EXPECT_EQ(run(few, {.depth = 3, .most_depth = 16, .known_depth = 9}).depth, 9);
  EXPECT_EQ(run(few, {.depth = 3, .most_depth = 16, .known_depth = 9, .fitting = [] { return 5; }}).depth, 5);
  EXPECT_EQ(run(few, {.depth = 3, .most_depth = 16, .known_depth = 9, .fitting = [] { return 1; }}).depth, 3);
}

TEST(RingTime, WithoutMemoryForMoreSlotsMoreBatchesWaitInTheFeed) {
  const auto reads = stalling_reads(500);
  std::vector<int> wanted;
  const auto wait_behind = [&](int more) { wanted.push_back(more); };
  const auto fitting = [] { return 5; };  // by what batches have been
  const auto report =
      run(reads, {.depth = 3, .most_depth = 16, .fitting = fitting, .most_behind = 8, .wait_behind = wait_behind});
  EXPECT_EQ(report.depth, 5);
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(report.behind, wanted.back());
  EXPECT_GE(report.behind, 4);
  EXPECT_LE(report.behind, 8);
  wanted.clear();
  EXPECT_EQ(run(reads, {.depth = 3, .most_depth = 16, .most_behind = 8, .wait_behind = wait_behind}).behind, 0);
  EXPECT_TRUE(wanted.empty()) << "the slots suffice";
}

}  // namespace
}  // namespace tutti
