#include "train/report/step_monitor.h"

#include <gtest/gtest.h>

#include <functional>

namespace tutti {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr int kWarmUp = 5;

using MakeStep = std::function<MonitoredStep(int)>;

/// Steps of 10 ms that took 20 ms of two cores.
MonitoredStep even_step(int number) {
  return {.step = number, .time = Seconds(0.010), .waited = Seconds(0), .processor = Seconds(0.020), .frames = 100};
}

/// The lines after so many steps behind the warm-up.
std::vector<std::string> lines_of(StepMonitor& monitor, int steps, const MakeStep& make, TrainingMemory memory = {}) {
  std::vector<std::string> lines;
  for (int i = 1; i <= steps; ++i)
    for (auto& line : monitor.stepped(make(i), memory)) lines.push_back(std::move(line));
  return lines;
}

/// The warning about times of such steps; empty: none.
std::string warning_of(const MakeStep& make, bool on_gpu = false) {
  StepMonitor monitor(on_gpu);
  const auto lines = lines_of(monitor, kWarmUp + 100, make);
  return lines.size() > 1 ? lines[1] : "";
}

}  // namespace

TEST(StepMonitor, ReportsAfterEveryHundredStepsBehindTheWarmUp) {
  StepMonitor monitor(false);
  EXPECT_TRUE(lines_of(monitor, kWarmUp + 99, even_step).empty());
  EXPECT_TRUE(monitor.is_due());
  const auto lines = monitor.stepped(even_step(105), {});
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0], "the last 100 of 105 steps: 10.0 ms ± 0.0 ms, 10.0 ms to 10.0 ms, 100.0 steps/s");
  EXPECT_EQ(lines_of(monitor, 200, even_step).size(), 2);
}

TEST(StepMonitor, SlowFirstStepsAreNoVariation) {
  EXPECT_EQ(warning_of([](int i) {
              auto step = even_step(i);
              if (i <= kWarmUp) step.time = Seconds(5);
              return step;
            }),
            "");
}

TEST(StepMonitor, WaitsThatDifferAreTheCause) {
  const auto warning = warning_of([](int i) {
    auto step = even_step(i);
    step.waited = Seconds(i % 2 == 0 ? 0.030 : 0.001);
    step.time += step.waited;
    return step;
  });
  EXPECT_NE(warning.find("step times vary by 0.57 of their mean: the waits for batches differ, 1.0 ms to 30.0 ms"),
            std::string::npos)
      << warning;
}

TEST(StepMonitor, BatchesOfUnequalLengthsAreTheCause) {
  const auto warning = warning_of([](int i) {
    auto step = even_step(i);
    step.frames = i % 2 == 0 ? 400 : 100;
    step.time = Seconds(i % 2 == 0 ? 0.040 : 0.010);
    step.processor = 2 * step.time;
    return step;
  });
  EXPECT_NE(warning.find("batches are of unequal lengths, 100 to 400 frames"), std::string::npos) << warning;
}

TEST(StepMonitor, SlowStepsWithoutProcessorTimeAreOtherPrograms) {
  const auto slowed = [](int i) {
    auto step = even_step(i);
    if (i % 3 == 0) step.time = Seconds(0.050);
    return step;
  };
  EXPECT_NE(warning_of(slowed).find("other programs hold the cores"), std::string::npos);
  EXPECT_NE(warning_of(slowed, /*on_gpu=*/true).find("the device or the processor was slower"), std::string::npos);
}

TEST(StepMonitor, GrowthIsCountedFromTheFirstReportAndWarnedOfOnce) {
  StepMonitor monitor(/*on_gpu=*/true);
  const auto at = [](std::int64_t host, std::int64_t gpu) {
    return TrainingMemory{.host = Bytes{host * kMegabyte}, .gpu = Bytes{gpu * kMegabyte}};
  };
  EXPECT_EQ(lines_of(monitor, kWarmUp + 100, even_step, at(800, 3000)).size(), 1);
  EXPECT_EQ(lines_of(monitor, 100, even_step, at(1000, 3500)).size(), 1);
  const auto grown = lines_of(monitor, 100, even_step, at(1001, 3501));
  ASSERT_EQ(grown.size(), 3);
  EXPECT_NE(grown[0].find("host memory 1001 MB (+201 MB), GPU memory 3501 MB (+501 MB)"), std::string::npos)
      << grown[0];
  EXPECT_NE(grown[1].find("host memory grew by 201 MB"), std::string::npos) << grown[1];
  EXPECT_NE(grown[2].find("GPU memory grew by 501 MB"), std::string::npos) << grown[2];
  EXPECT_EQ(lines_of(monitor, 100, even_step, at(1001, 3501)).size(), 1);
}

TEST(StepMonitor, ANetworkInHostMemoryMayGrowByBothLimits) {
  StepMonitor monitor(/*on_gpu=*/false);
  const auto at = [](std::int64_t host) { return TrainingMemory{.host = Bytes{host * kMegabyte}}; };
  lines_of(monitor, kWarmUp + 100, even_step, at(1000));
  EXPECT_EQ(lines_of(monitor, 100, even_step, at(1700)).size(), 1);
  EXPECT_EQ(lines_of(monitor, 100, even_step, at(1701)).size(), 2);
}

TEST(StepMonitor, HostMemoryIsThatOfThisProcess) {
  const auto before = host_memory();
  ASSERT_TRUE(before.host);
  const std::vector<char> taken(64 << 20, 'x');
  EXPECT_GE(host_memory().host->value - before.host->value, 60 << 20) << taken.size();
}

}  // namespace tutti
