#include "balance/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/log_normal_lengths.h"

namespace tutti {
namespace {

using Kind = SimFault::Kind;

SimResult run(std::vector<SimDevice> devices, std::span<const SimJob> jobs, SimUnit unit = SimUnit::window) {
  SimOptions options{.unit = unit};
  set_policy(Policy::tutti, devices, options);
  return simulate(jobs, devices, options);
}

std::size_t done(const SimResult& result) {
  return static_cast<std::size_t>(
      std::count_if(result.done_at.begin(), result.done_at.end(), [](Seconds at) { return at > Seconds::zero(); }));
}

std::vector<SimJob> lectures(std::size_t count) {
  return with_error(log_normal_lengths(count, Seconds(1200), 0.7, 5), 0.3, 6);
}

/// Whatever is begun in this time on a GPU of up to 30x fails, canaries (a third of a second there) included.
std::vector<SimFault> failing(Seconds from, Seconds to) {
  std::vector<SimFault> faults;
  for (Seconds at = from; at < to; at += Seconds(0.25)) faults.push_back({at, Kind::worker_dies});
  return faults;
}

TEST(Simulator, TwiceIsTheSame) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  devices[0].jitter = 0.2;
  const auto jobs = lectures(20);
  EXPECT_EQ(run(devices, jobs).done_at, run(devices, jobs).done_at);
}

TEST(Simulator, JitterAndAWarmUpAreWorkedAround) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  devices[0].jitter = devices[1].jitter = 0.3;
  devices[1].warm_up = Seconds(20);
  const auto jobs = lectures(30);
  const SimResult result = run(devices, jobs);
  EXPECT_EQ(done(result), 30u);
  EXPECT_EQ(result.devices[1].idle[Idle::starting], Seconds(20));
  const double lost = 20 * 12 / 42.0;
  EXPECT_LE(result.makespan.count(), (lower_bound(jobs, devices, SimUnit::window).count() + lost) * 1.02);
}

TEST(Simulator, WindowHasAFixedCostBesideItsAudio) {
  auto devices = std::vector{plain_device("a", 30, 4)};
  devices[0].fixed = Seconds(1);
  const std::vector<SimJob> clips = with_error(std::vector<double>(40, 15.0), 0, 0);
  const std::vector<SimJob> lecture = with_error(std::vector<double>{600}, 0, 0);
  EXPECT_NEAR(run(devices, clips).makespan.count(), 40 * 1.5, 1e-6);
  EXPECT_NEAR(run(devices, lecture).makespan.count(), 20 * 2.0, 1e-6);
  EXPECT_NEAR(run(devices, lecture, SimUnit::file).makespan.count(), 20 * 2.0, 1e-6);
  for (const auto& jobs : {clips, lecture})
    EXPECT_NEAR(run(devices, jobs).makespan / lower_bound(jobs, devices, SimUnit::window), 1, 1e-6);
}

TEST(Simulator, MakespanIsNeverBelowTheLowerBound) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  devices[1].fixed = Seconds(2);
  std::vector<SimJob> jobs = lectures(20);
  for (const SimJob& clip : with_error(std::vector<double>(100, 8.0), 0, 0)) jobs.push_back(clip);
  for (const SimUnit unit : {SimUnit::window, SimUnit::file})
    EXPECT_GE(run(devices, jobs, unit).makespan / lower_bound(jobs, devices, unit), 1);
  EXPECT_LE(run(devices, jobs).makespan / lower_bound(jobs, devices, SimUnit::window), 1.1);
}

TEST(Simulator, WrongDeclaredSpeedIsCorrectedByMeasurement) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 30, 4)};
  devices[1].speed = 6;
  const auto jobs = lectures(30);
  const SimResult result = run(devices, jobs);
  EXPECT_NEAR(result.devices[1].speed, 6, 0.1);
  EXPECT_LE(result.makespan / lower_bound(jobs, devices, SimUnit::window), 1.01);
}

TEST(Simulator, AWorkerThatDiesNowAndThenCostsItsWindowsAndNothingElse) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  for (double at = 50; at < 1000; at += 200) devices[0].faults.push_back({Seconds(at), Kind::worker_dies});
  const auto jobs = lectures(30);
  const SimResult result = run(devices, jobs);
  EXPECT_EQ(done(result), 30u);
  EXPECT_GT(result.failures, 0u);
  EXPECT_LE(result.failures, 4u * 5);
  EXPECT_LE(result.makespan / lower_bound(jobs, devices, SimUnit::window), 1.05);
}

TEST(Simulator, DeviceThatFailsAtOnceDoesNotConsumeAllJobs) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  devices[0].faults = failing(Seconds(10), Seconds(20'000));
  const auto jobs = lectures(30);
  const SimResult result = run(devices, jobs, SimUnit::file);
  EXPECT_EQ(done(result), 30u);
  EXPECT_LE(result.failures, 20u) << "canaries included";
  EXPECT_GT(result.devices[0].idle[Idle::fault], result.makespan * 0.8);
}

TEST(Simulator, ALostCardThatReturnsIsProbedAndWorksAgain) {
  auto devices = std::vector{plain_device("a", 30, 4), plain_device("b", 12, 4)};
  devices[0].faults = {{Seconds(100), Kind::lost}, {Seconds(200), Kind::returned}};
  const auto jobs = lectures(60);
  const SimResult result = run(devices, jobs);
  EXPECT_EQ(done(result), 60u);
  EXPECT_EQ(result.devices[0].state, DeviceState::healthy);
  EXPECT_NEAR(result.devices[0].idle[Idle::fault].count(), 100, 5);
}

TEST(Simulator, TemporaryFaultsOfAllDevicesLoseNoJob) {
  auto devices = std::vector{plain_device("a", 30, 2), plain_device("b", 12, 2)};
  for (auto& device : devices) device.faults = failing(Seconds(51.3), Seconds(120));
  const auto jobs = lectures(20);
  const SimResult result = run(devices, jobs);
  EXPECT_EQ(done(result), 20u);
}

TEST(Simulator, EndsWhenNothingCanEverHappenAgain) {
  auto devices = std::vector{plain_device("a", 30, 2)};
  devices[0].faults = {{Seconds(50), Kind::lost}};
  const SimResult result = run(devices, lectures(20));
  EXPECT_LT(done(result), 20u);
}

TEST(Simulator, LoadingDeviceIsWaitedForWhereThatIsSooner) {
  std::vector<SimDevice> devices{plain_device("slow", 1, 1), plain_device("fast", 100, 1)};
  devices[1].warm_up = Seconds(2);
  const auto one = with_error(std::vector<double>{30}, 0, 0);
  EXPECT_NEAR(simulate(one, devices, {}).makespan.count(), 30, 1e-6) << "the ready time is unknown";
  devices[1].facts.load_time = Seconds(2);
  EXPECT_NEAR(simulate(one, devices, {}).makespan.count(), 2.3, 1e-6);
}

TEST(Simulator, AWorkerThatDiesWarmsUpAgain) {
  std::vector<SimDevice> devices{plain_device("a", 10, 1)};
  devices[0].warm_up = Seconds(4);
  devices[0].faults = {{Seconds(5), Kind::worker_dies}};
  EXPECT_NEAR(simulate(with_error(std::vector<double>{30}, 0, 0), devices, {}).makespan.count(), 5 + 4 + 3, 1e-6);
}

TEST(Simulator, ARecordingIsNotToBlameForCardsThatTheDriverLoses) {
  const auto done_after = [](Kind kind) {
    std::vector<SimDevice> devices{plain_device("a", 1, 1), plain_device("b", 1, 1), plain_device("c", 1, 1)};
    for (int i = 0; i < 2; ++i) devices[static_cast<std::size_t>(i)].faults = {{Seconds(10 * (i + 1)), kind}};
    return done(run(devices, with_error(std::vector<double>{30}, 0, 0)));
  };
  EXPECT_EQ(done_after(Kind::lost), 1u);
  EXPECT_EQ(done_after(Kind::worker_dies), 0u) << "two workers that crash with it alone";
}

TEST(Simulator, SlowDeviceLeavesWorkToFastOneThatStillStarts) {
  std::vector<SimDevice> devices{plain_device("slow", 12, 10), plain_device("a", 60, 10), plain_device("b", 60, 10)};
  devices[2].warm_up = Seconds(0.5);
  const std::vector<double> lengths(10, 120.0);
  const auto jobs = with_error(lengths, 0, 0);
  EXPECT_LT(simulate(jobs, devices, {}).makespan, Seconds(1.25 * 1200 / 132)) << "and not six windows on the slow one";
}

}  // namespace
}  // namespace tutti
