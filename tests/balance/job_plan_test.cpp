#include "balance/job_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/seeds.h"

namespace tutti {
namespace {

/// The true optimum, by trying everything.
double optimum(const std::vector<double>& audio, const std::vector<PlanDevice>& devices, std::size_t at,
               std::vector<double>& ends) {
  if (at == audio.size()) return *std::max_element(ends.begin(), ends.end());
  double best = 1e300;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const double cost = devices[i].fixed + audio[at] / devices[i].speed;
    ends[i] += cost;
    best = std::min(best, optimum(audio, devices, at + 1, ends));
    ends[i] -= cost;
  }
  return best;
}

double optimum(const std::vector<double>& audio, const std::vector<PlanDevice>& devices) {
  std::vector<double> ends;
  for (const auto& device : devices) ends.push_back(device.free_in);
  return optimum(audio, devices, 0, ends);
}

double end_of(const JobPlan& plan, const std::vector<double>& audio, const std::vector<PlanDevice>& devices) {
  std::vector<double> ends;
  for (const auto& device : devices) ends.push_back(device.free_in);
  for (std::size_t j = 0; j < audio.size(); ++j) {
    const PlanDevice& device = devices[plan.device_of[j]];
    ends[plan.device_of[j]] += device.fixed + audio[j] / device.speed;
  }
  double end = 0;  // devices that got nothing do not count
  for (std::size_t j = 0; j < audio.size(); ++j) end = std::max(end, ends[plan.device_of[j]]);
  return end;
}

TEST(JobPlan, IsWithinAHundredthOfTheTrueOptimumOfUpToTenJobs) {
  for (const auto seed : seeds(200)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    const int count = dice.between(1, dice.coin() ? 7 : 10);
    std::vector<PlanDevice> devices;
    for (int m = dice.between(1, count > 8 ? 3 : 4); m > 0; --m) {
      const double speed = dice.coin() ? 30 : dice.between(3, 60);
      devices.push_back({.speed = speed, .single = speed, .fixed = dice.coin() ? 0.0 : 2.0});
    }
    std::vector<double> audio;
    for (int j = 0; j < count; ++j) audio.push_back(2400 * std::exp(0.7 * (dice.between(-20, 20) / 10.0)));
    std::sort(audio.rbegin(), audio.rend());
    const JobPlan plan = plan_jobs(audio, devices);
    const double best = optimum(audio, devices);
    EXPECT_NEAR(plan.end, end_of(plan, audio, devices), 1e-6) << "the plan's end is that of its placement";
    EXPECT_LE(plan.end, best * 1.01);
    EXPECT_GE(plan.end, plan_bound(audio, devices) * (1 - 1e-9));
  }
}

TEST(JobPlan, LeavesADeviceAloneThatWouldEndAfterAllOthers) {
  const std::vector<PlanDevice> devices{{.speed = 30, .single = 30}, {.speed = 1, .single = 1}};
  const std::vector<double> audio{3000, 2900, 2800};
  const JobPlan plan = plan_jobs(audio, devices);
  EXPECT_EQ(plan.device_of, (std::vector<std::size_t>{0, 0, 0}));
}

TEST(JobPlan, CountsWhatDevicesHaveInFlight) {
  const std::vector<PlanDevice> devices{{.speed = 30, .single = 30, .free_in = 500}, {.speed = 12, .single = 12}};
  const std::vector<double> audio{3000};
  EXPECT_EQ(plan_jobs(audio, devices).device_of[0], 1u);
}

TEST(JobPlan, ManyJobsOnSixteenDevicesEndNearTheBound) {
  Dice dice(7);
  std::vector<PlanDevice> devices(16);
  for (auto& device : devices) device.speed = device.single = dice.between(10, 60);
  std::vector<double> audio;
  for (int j = 0; j < 64; ++j) audio.push_back(dice.between(1000, 5000));
  std::sort(audio.rbegin(), audio.rend());
  EXPECT_LE(plan_jobs(audio, devices).end, plan_bound(audio, devices) * 1.05);
}

}  // namespace
}  // namespace tutti
