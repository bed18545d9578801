#include "train/report/step_monitor.h"

#include <algorithm>
#include <cmath>

#include "advise/spread.h"
#include "base/field_names.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "device/proc_text.h"

namespace tutti {
namespace {

constexpr double kUneven = 0.30;  // deviation of the times over their mean
constexpr Bytes kDataGrowth{200'000'000};
constexpr Bytes kNetworkGrowth{500'000'000};
// A part explains the variation where so much of its variance goes along with it.
constexpr double kExplains = 0.5;
constexpr double kFastEnough = 0.05;  // share of the time that steps wait: the feed is fast enough in the mean

std::string ms(Seconds time) {
  return fixed_text(1000 * time.count(), 1) + " ms";
}

std::vector<Seconds> times_of(const std::vector<MonitoredStep>& steps, Seconds MonitoredStep::*member) {
  std::vector<Seconds> times;
  for (const auto& step : steps) times.push_back(step.*member);
  return times;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

/// The share of the variance of `b` that goes along with `a`, 0 to 1: the square of their correlation.
double explained(const std::vector<double>& a, const std::vector<double>& b) {
  const double both = covariance(a, a) * covariance(b, b);
  return both > 0 ? covariance(a, b) * covariance(a, b) / both : 0;
}

/// Why the times of the steps differ.
std::string cause_of(const std::vector<MonitoredStep>& steps, bool on_gpu) {
  std::vector<double> total, waited, computing, frames, processor;
  for (const auto& step : steps) {
    total.push_back(step.time.count());
    waited.push_back(step.waited.count());
    computing.push_back((step.time - step.waited).count());
    frames.push_back(static_cast<double>(step.frames));
    processor.push_back(step.processor.count());
  }
  const Spread waits = spread_of(times_of(steps, &MonitoredStep::waited));
  if (covariance(waited, total) > kExplains * covariance(total, total))
    return "the waits for batches differ, " + ms(waits.least) + " to " + ms(waits.most) +
           (mean_of(waited) < kFastEnough * mean_of(total) ? "; a greater " + field("ring_depth") + " evens them out"
                                                           : "");
  if (explained(frames, computing) > kExplains) {
    const auto [least, most] = std::ranges::minmax(frames);
    return "batches are of unequal lengths, " + fixed_text(least, 0) + " to " + fixed_text(most, 0) +
           " frames; that costs nothing by itself";
  }
  if (!on_gpu && explained(processor, computing) < kExplains)
    return "slow steps took no more processor time than others: other programs hold the cores";
  return "their batches are alike, and they did not wait: the device or the processor was slower at times (its clock, "
         "or other programs)";
}

std::string growth_text(const char* name, std::optional<Bytes> now, std::optional<Bytes> first) {
  if (!now) return {};
  const auto grown = first ? now->value - first->value : 0;
  return std::string(", ") + name + " " + megabytes_text(*now) + (grown < 0 ? " (-" : " (+") +
         megabytes_text(Bytes{std::abs(grown)}) + ")";
}

}  // namespace

TrainingMemory host_memory() {
  const auto status = read_system_file("/proc/self/status");
  return {.host = status ? kilobytes_of_key(*status, "RssAnon") : std::nullopt};
}

std::vector<std::string> StepMonitor::memory_warnings(const TrainingMemory& memory) {
  std::vector<std::string> lines;
  const auto check = [&](const char* name, std::optional<Bytes> now, std::optional<Bytes>& before, Bytes most) {
    if (!now) return;
    if (!before) before = now;
    const Bytes grown{now->value - before->value};
    if (grown.value <= most.value) return;
    lines.push_back(std::string("⚠️  ") + name + " grew by " + megabytes_text(grown) +
                    " within the last reports; more than " + megabytes_text(most) + " may be a leak");
    before = now;
  };
  check("host memory", memory.host, warned_.host,
        on_gpu_ ? kDataGrowth : Bytes{kDataGrowth.value + kNetworkGrowth.value});
  check("GPU memory", memory.gpu, warned_.gpu, kNetworkGrowth);
  return lines;
}

std::vector<std::string> StepMonitor::stepped(const MonitoredStep& step, const TrainingMemory& memory) {
  if (warm_up_ > 0) {
    --warm_up_;
    return {};
  }
  steps_.push_back(step);
  if (steps_.size() < kSteps) return {};
  if (!first_) first_ = memory;
  const Spread spread = spread_of(times_of(steps_, &MonitoredStep::time));
  std::vector<std::string> lines{
      "the last 100 of " + std::to_string(step.step) + " steps: " + ms(spread.mean) + " ± " + ms(spread.deviation) +
      ", " + ms(spread.least) + " to " + ms(spread.most) + ", " + fixed_text(1 / spread.mean.count(), 1) + " steps/s" +
      growth_text("host memory", memory.host, first_->host) + growth_text("GPU memory", memory.gpu, first_->gpu)};
  if (spread.variation() > kUneven)
    lines.push_back("⚠️  step times vary by " + fixed_text(spread.variation(), 2) +
                    " of their mean: " + cause_of(steps_, on_gpu_));
  for (auto& line : memory_warnings(memory)) lines.push_back(std::move(line));
  steps_.clear();
  return lines;
}

}  // namespace tutti
