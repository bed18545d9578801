#include "device/telemetry/gpu_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using Instant = Clock::Instant;

Instant at(double seconds) {
  return Instant(std::chrono::duration_cast<Instant::duration>(Seconds(100 + seconds)));
}

GpuSnapshot reading(const char* uuid, double when, int index = 0) {
  GpuSnapshot gpu{.uuid = uuid};
  gpu.index = index;
  gpu.power = 50;
  gpu.when = at(when);
  return gpu;
}

TEST(GpuBook, AGpuThatIsAskedTooLongHangsWithItsLastValuesAndTheirAge) {
  GpuBook book(Seconds(3));
  book.asking(0, "GPU-a", at(0));
  book.answered(reading("GPU-a", 0));
  book.idle(0);
  book.asking(0, "GPU-a", at(1));
  EXPECT_EQ(book.gpus(at(4))[0].state, GpuState::ok) << "three seconds are allowed";
  EXPECT_FALSE(book.is_overdue(0, at(4)));
  const auto gpu = book.gpus(at(8))[0];
  EXPECT_TRUE(book.is_overdue(0, at(8)));
  EXPECT_TRUE(book.hangs("GPU-a", at(8)));
  EXPECT_EQ(gpu.state, GpuState::hung);
  EXPECT_EQ(gpu.reason, "the driver has not answered for 7 s");
  EXPECT_EQ(gpu.power, 50);
  EXPECT_EQ(gpu.age(at(8)), Seconds(8));
  EXPECT_EQ(gpu.since, at(8));
  EXPECT_EQ(book.gpus(at(9))[0].since, at(8)) << "the state is a second old";
  book.answered(reading("GPU-a", 1));
  book.idle(0);
  EXPECT_EQ(book.gpus(at(10))[0].state, GpuState::ok);
}

TEST(GpuBook, WhoeverAsksMayNotBeAskedByAnother) {
  GpuBook book(Seconds(3));
  book.asking(0, "GPU-a", at(0));
  EXPECT_TRUE(book.may_ask(0, "GPU-a"));
  EXPECT_FALSE(book.may_ask(1, "GPU-a"));
  EXPECT_TRUE(book.may_ask(1, "GPU-b"));
  book.idle(0);
  EXPECT_TRUE(book.may_ask(1, "GPU-a"));
}

TEST(GpuBook, AHangOfTheWholeDriverSparesGpusWithFreshValuesOfAnotherSource) {
  GpuBook book(Seconds(3));
  book.answered(reading("GPU-a", 0));
  book.answered(reading("GPU-b", 0, 1));
  book.asking(0, "", at(0));
  book.answered(reading("GPU-b", 9, 1));
  const auto gpus = book.gpus(at(10));
  EXPECT_EQ(gpus[0].state, GpuState::hung);
  EXPECT_EQ(gpus[1].state, GpuState::ok);
  EXPECT_THAT(book.notes(at(10)), testing::ElementsAre("the NVIDIA driver has not answered for 10 s"));
}

TEST(GpuBook, AGpuThatIsNoLongerListedIsLostUntilItIsReadAgain) {
  GpuBook book(Seconds(3));
  book.answered(reading("GPU-a", 0));
  book.answered(reading("GPU-b", 0, 1));
  book.finished({.source = "nvml", .uuids = {"GPU-b"}});
  auto gpus = book.gpus(at(1));
  EXPECT_EQ(gpus[1].uuid, "GPU-a");
  EXPECT_EQ(gpus[1].state, GpuState::lost);
  EXPECT_EQ(gpus[1].reason, "the driver no longer lists it");
  EXPECT_EQ(gpus[1].power, std::nullopt);
  EXPECT_EQ(gpus[1].when, std::nullopt);
  book.answered(reading("GPU-a", 2));
  gpus = book.gpus(at(2));
  EXPECT_EQ(gpus[0].state, GpuState::ok);
  EXPECT_EQ(gpus[0].since, at(2));
}

TEST(GpuBook, WithoutAnySourceAllGpusAreLost) {
  GpuBook book(Seconds(3));
  book.answered(reading("GPU-a", 0));
  book.finished({.source = "nvml", .uuids = {"GPU-a"}});
  book.failed({Fault::device, "the NVIDIA driver does not answer: Uninitialized (1)", "nvidia-smi should say more"});
  const auto gpu = book.gpus(at(1))[0];
  EXPECT_EQ(gpu.state, GpuState::lost);
  EXPECT_EQ(gpu.reason, "the NVIDIA driver does not answer: Uninitialized (1)");
  EXPECT_EQ(book.source(), "");
}

}  // namespace
}  // namespace tutti
