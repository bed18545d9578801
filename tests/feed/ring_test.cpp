#include "feed/ring/ring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "base/random/counter_random.h"
#include "feed/feature_cache.h"
#include "feed/ring/ring_depth.h"
#include "support/emulated_accelerator.h"
#include "support/fake_clock.h"

namespace tutti {
namespace {

/// Batches 0 ... count - 1, then the end.
DeviceRing::Fetch counting(std::int64_t count) {
  return [count, next = std::int64_t{0}]() mutable -> Result<std::optional<Batch>> {
    if (next == count) return std::nullopt;
    Batch batch;
    batch.index = next++;
    return batch;
  };
}

TEST(DeviceRing, HandsOutEveryBatchInOrderAndThenTheEnd) {
  EmulatedAccelerator device;
  DeviceRing ring(counting(20), device);
  for (std::int64_t i = 0; i < 20; ++i) {
    auto slot = ring.next();
    ASSERT_TRUE(slot && *slot);
    EXPECT_EQ((*slot)->batch().index, i);
  }
  EXPECT_FALSE(*ring.next());
  EXPECT_FALSE(*ring.next());
  EXPECT_EQ(ring.report().batches, 20);
}

TEST(DeviceRing, SlotIsNotOverwrittenBeforeItsRelease) {
  EmulatedAccelerator device;
  DeviceRing ring(counting(100), device, {.depth = 2});
  auto first = ring.next(), second = ring.next();
  ASSERT_TRUE(*first && *second);
  EXPECT_NE((*first)->index(), (*second)->index());
  EXPECT_EQ(device.transfers().size(), 2U) << "both slots are out";
  const std::size_t freed = (*first)->index();
  first->reset();
  auto third = ring.next();
  ASSERT_TRUE(*third);
  EXPECT_EQ((*third)->index(), freed);
  EXPECT_EQ((*third)->batch().index, 2);
  EXPECT_EQ(device.released().front(), freed);
  second->reset();
  third->reset();
}

/// A device whose slots are memory that every transfer fills with what belongs to its batch.
class SlotMemory final : public RingDevice {
 public:
  static constexpr std::size_t kWords = 4096;

  explicit SlotMemory(std::size_t slots) : slots_(slots, std::vector<std::uint64_t>(kWords)) {}
  Result<void> begin_transfer(std::size_t slot, const Batch& batch) override {
    CounterRandom random({static_cast<std::uint64_t>(batch.index)});
    for (auto& word : slots_[slot]) word = random.bits64();
    return {};
  }
  void use(std::size_t) override {}
  void release(std::size_t) override {}

  std::uint64_t checksum_of(std::size_t slot) const { return checksum(std::as_bytes(std::span(slots_[slot]))); }
  static std::uint64_t expected(std::int64_t batch) {
    SlotMemory own(1);
    Batch only;
    only.index = batch;
    EXPECT_TRUE(own.begin_transfer(0, only));
    return own.checksum_of(0);
  }

 private:
  std::vector<std::vector<std::uint64_t>> slots_;
};

TEST(DeviceRing, EverySlotKeepsItsChecksumWhileItIsRead) {
  for (const int depth : {1, 2, 3, 8}) {
    SlotMemory device(static_cast<std::size_t>(depth));
    DeviceRing ring(counting(120), device, {.depth = depth, .most_depth = depth});
    for (std::int64_t i = 0; i < 120; ++i) {
      auto slot = ring.next();
      ASSERT_TRUE(slot && *slot);
      const auto expected = SlotMemory::expected(i);  // the ring's thread fills the others meanwhile
      for (std::int64_t read = 0; read <= i % 7; ++read)
        ASSERT_EQ(device.checksum_of((*slot)->index()), expected) << "batch " << i << ", depth " << depth;
    }
  }
}

TEST(DeviceRing, FeedErrorArrivesAfterTheEarlierBatches) {
  EmulatedAccelerator device;
  DeviceRing ring(
      [n = 0]() mutable -> Result<std::optional<Batch>> {
        if (n++ < 2) return Batch{};
        return fail(Fault::corrupt, "rotten");
      },
      device);
  EXPECT_TRUE(*ring.next());
  EXPECT_TRUE(*ring.next());
  EXPECT_EQ(ring.next().error().what, "rotten");
}

TEST(DeviceRing, ExceptionWhileFetchingIsReturnedAsAnError) {
  EmulatedAccelerator device;
  DeviceRing ring(
      [n = 0]() mutable -> Result<std::optional<Batch>> {
        if (n++ < 2) return Batch{};
        throw std::bad_alloc();
      },
      device);
  EXPECT_TRUE(*ring.next());
  EXPECT_TRUE(*ring.next());
  const auto third = ring.next();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().fault, Fault::exhausted);
}

TEST(DeviceRing, WorkBetweenStepsCountsAsNoStep) {
  EmulatedAccelerator device;
  FakeClock clock;
  DeviceRing ring(counting(3), device, {.clock = &clock});
  const auto step = [&] {
    ASSERT_TRUE(*ring.next());
    clock.advance(std::chrono::seconds(1));
  };
  step();
  ASSERT_TRUE(*ring.next());
  clock.advance(std::chrono::seconds(100));  // an evaluation, before the step
  ring.go_on();
  clock.advance(std::chrono::seconds(1));
  const auto before = ring.report();
  step();
  EXPECT_FALSE(*ring.next());
  EXPECT_FALSE(*ring.next());
  EXPECT_EQ(ring.report().stepping, Seconds(3)) << "the last one included";
  EXPECT_EQ(ring.report().since(before).stepping, Seconds(2));
  EXPECT_EQ(ring.report().since(before).batches, 1);
}

TEST(DeviceRing, CanBeDestroyedWithFullSlots) {
  EmulatedAccelerator device;
  DeviceRing ring(counting(1000), device, {.depth = 3});
  ASSERT_TRUE(ring.next());
}

/// Reads of 5 ms of which every fiftieth stalls for 300.
std::vector<Seconds> stalling_reads(std::size_t count) {
  std::vector<Seconds> reads(count, Seconds(0.005));
  for (std::size_t i = 25; i < count; i += 50) reads[i] = Seconds(0.305);
  return reads;
}

TEST(RingDepth, ARingCoversAStallOnceItHoldsTheStepsThatFitIntoIt) {
  const auto reads = stalling_reads(1000);
  const std::vector<Seconds> steps{Seconds(0.03)};
  const auto busy = [&](int depth) { return ring_utilisation(reads, steps, depth); };
  EXPECT_NEAR(busy(1), 30 / (30 + 300 / 50.0 - 25 / 50.0), 0.01) << "one batch in hand covers 30 ms of each stall";
  EXPECT_LT(busy(3), 0.90);
  EXPECT_GT(busy(10), 0.99);
  for (int depth = 2; depth <= 16; ++depth) EXPECT_GE(busy(depth), busy(depth - 1) - 1e-12);
}

TEST(RingDepth, ASlowReaderIsNotHelpedByAnyDepth) {
  const std::vector<Seconds> reads(500, Seconds(0.06)), steps{Seconds(0.03)};
  EXPECT_NEAR(ring_utilisation(reads, steps, 16), 0.5, 0.01);
}

TEST(RingTuner, DeepensForStallsThatDepthCoversAndForNothingElse) {
  RingTuner stalls(16), even(16), slow(16), poor(4);
  for (const Seconds read : stalling_reads(500)) {
    stalls.note(read, Seconds(0.03));
    poor.note(read, Seconds(0.03));
    even.note(Seconds(0.005), Seconds(0.03));
    slow.note(Seconds(0.06), Seconds(0.03));
  }
  EXPECT_GE(stalls.advised(3), 9);
  EXPECT_LE(stalls.advised(3), 11);
  EXPECT_EQ(poor.advised(3), 4) << "memory is the limit";
  EXPECT_EQ(even.advised(3), 3);
  EXPECT_EQ(slow.advised(3), 3) << "a slow reader is not helped by depth";
}

TEST(RingTuner, WaitsUntilItHasSeenEnough) {
  RingTuner tuner(16);
  for (int i = 0; i < 10; ++i) tuner.note(Seconds(i == 5 ? 0.3 : 0.005), Seconds(0.03));
  EXPECT_EQ(tuner.advised(3), 3);
}

}  // namespace
}  // namespace tutti
