#include "profile/gpu_watch.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tutti {
namespace {

/// Snapshot `number` at second `at`: cuda:0, with a process, ours or another's, held back for a reason.
std::shared_ptr<const MachineSnapshot> gpu_at(std::uint64_t number, double at, bool own, std::uint64_t reasons) {
  MachineSnapshot snapshot;
  snapshot.number = number;
  snapshot.when = Clock::Instant(std::chrono::duration_cast<Clock::Instant::duration>(Seconds(at)));
  GpuSnapshot gpu;
  gpu.cuda_order = 0;
  gpu.utilisation.gpu = 0.5;
  gpu.throttled_by = throttle_reasons(reasons);
  gpu.processes.emplace();
  gpu.processes->push_back({.pid = 7, .own = own, .memory = std::nullopt});
  snapshot.gpus.push_back(std::move(gpu));
  return std::make_shared<const MachineSnapshot>(std::move(snapshot));
}

/// The share of the time for which cuda:0 counts as held back.
double held_back(bool own, std::uint64_t reasons) {
  GpuTrack track;
  for (std::uint64_t i = 1; i <= 5; ++i) track.take(gpu_at(i, static_cast<double>(i), own, reasons));
  return track.uses().at(0).held_back.mean();
}

constexpr std::uint64_t kIdle = 0x1, kSetClocks = 0x2, kPowerCap = 0x4, kSyncBoost = 0x10, kTooHot = 0x40;

TEST(GpuTrack, HeatAndPowerHoldBackButOtherReasonsDoNot) {
  EXPECT_EQ(held_back(true, kPowerCap), 1);
  EXPECT_EQ(held_back(true, kTooHot | kSyncBoost), 1);
  for (const auto reason : {kIdle, kSetClocks, kSyncBoost}) EXPECT_EQ(held_back(true, reason), 0) << reason;
}

TEST(GpuTrack, GpuOfOthersIsNotHeldBackForUs) {
  EXPECT_EQ(held_back(false, kPowerCap), 0);
}

TEST(GpuTrack, SnapshotsCountOnceByTheTimeBetweenThem) {
  GpuTrack track;
  track.take(std::make_shared<const MachineSnapshot>());
  track.take(gpu_at(1, 100, true, kPowerCap));
  EXPECT_TRUE(track.uses().empty()) << "the first one is about the time before";
  track.take(gpu_at(2, 101, true, kPowerCap));
  for (int i = 0; i < 5; ++i) track.take(gpu_at(2, 101, true, kPowerCap));
  track.take(gpu_at(3, 101.5, true, 0));
  EXPECT_NEAR(track.uses().at(0).held_back.mean(), 1 / 1.5, 1e-9);
  track.take(gpu_at(4, 500, true, 0));
  EXPECT_NEAR(track.uses().at(0).held_back.mean(), 1 / 3.5, 1e-9) << "two seconds at most";
}

}  // namespace
}  // namespace tutti
