#include "transcribe/batch/batch_history.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr int kEnoughSamples = 20;  // windows, of a speed with fewer in flight that is worth remembering
constexpr Seconds kSample{30};      // length of a usual window
constexpr Seconds kRemembered{3600};

/// The device lost some of its window capacity before the run's end (a fault, others' memory). Its speed with that
/// capacity is no measure of its speed with the present one.
bool has_lost_capacity(const PooledDeviceView& device) {
  return !device.speeds.empty() && device.speeds.back().pieces / 2 >= std::max(1, device.slots);
}

/// What was in flight when a run was stopped has taken time and is no audio done: unless that is little of it all, the
/// device would pass for slow.
bool was_stopped_soon(const PooledDeviceView& device, const BatchReport& report) {
  constexpr int kLittle = 10;  // one part of so many
  const bool stopped = report.interrupted || !report.ended_early.empty();
  return stopped && device.audio_done < kLittle * std::max(1, device.slots) * kSample;
}

/// Keeps the device's whole speed at its full window capacity, and what the speed model has seen with fewer windows in
/// flight.
Result<void> keep_speeds(const PooledDeviceView& device, const JobRunOptions& options,
                         const std::vector<SpeedRecord>& known, RunHistory& history) {
  SpeedKey key{.device = device.id,
               .model = options.run.model_name(),
               .compute_type = options.run.compute_type,
               .concurrency = std::max(1, device.slots)};
  const auto whole = whole_speed(device, key, known);
  if (!whole) return {};
  for (const SpeedView& level : device.speeds) {
    if (level.pieces >= whole->key.concurrency || level.samples < kEnoughSamples) continue;
    key.concurrency = level.pieces;
    if (auto kept = history.record_speed({.key = key,
                                          .speed = level.speed,
                                          .overhead = level.fixed,
                                          .samples = level.samples,
                                          .median_error = device.error});
        !kept)
      return kept;
  }
  return history.record_speed(*whole);  // the last, so that it is known as the latest
}

/// The run has measured how fast the device is.
bool reports_speed(const PooledDeviceView& device, const BatchReport& report) {
  return !has_lost_capacity(device) && !was_stopped_soon(device, report);
}

Result<void> keep_all_speeds(const BatchReport& report, const JobRunOptions& options, RunHistory& history) {
  const auto known = TRY(history.speeds(false));
  for (const auto& device : report.pool.devices) {
    if (!reports_speed(device, report)) continue;
    if (auto kept = keep_speeds(device, options, known, history); !kept) return kept;
  }
  return {};
}

/// The latest record of a device with this model and type: a run writes last what the device did at its full window
/// capacity.
const SpeedRecord* latest_of(const std::vector<SpeedRecord>& known, const SpeedKey& key) {
  const SpeedRecord* latest = nullptr;
  for (const SpeedRecord& record : known)
    if (record.key.device == key.device && record.key.model == key.model && record.key.compute_type == key.compute_type)
      latest = &record;
  return latest;
}

double likeness(int window_capacity, int others) {
  return static_cast<double>(std::min(window_capacity, others)) / std::max({1, window_capacity, others});
}

}  // namespace

std::optional<SpeedRecord> whole_speed(const PooledDeviceView& device, const SpeedKey& key,
                                       const std::vector<SpeedRecord>& known) {
  if (!device.error || device.busy <= Seconds(0)) return {};  // nothing was measured
  Seconds audio = device.audio_done, busy = device.busy;
  std::optional<double> error = device.error;
  if (const SpeedRecord* before = latest_of(known, key); before && before->speed > 0) {
    const Seconds remembered = std::min(kRemembered, static_cast<double>(before->samples) * kSample) *
                               likeness(key.concurrency, before->key.concurrency);
    if (remembered > audio && before->median_error) error = before->median_error;
    audio += remembered;
    busy += remembered / before->speed;
  }
  const auto samples = static_cast<std::int64_t>(std::min(audio, kRemembered) / kSample);
  if (samples < 1) return {};
  return SpeedRecord{.key = key, .speed = audio / busy, .samples = samples, .median_error = error};
}

void record_news(DevicePool& pool, RunHistory& history, RunId run) {
  for (const auto& event : pool.news()) {
    const auto kept =
        history.record_event({.device = event.device, .run = run, .kind = event.state, .text = event.reason});
    if (!kept) log(Level::error, "the store: " + kept.error().text());
  }
}

void end_in_store(const BatchReport& report, const JobRunOptions& options, RunHistory& history, RunId run) {
  RunEnd end{.total = static_cast<std::int64_t>(report.counts.total),
             .successful = static_cast<std::int64_t>(report.counts.done),
             .failed = static_cast<std::int64_t>(report.counts.failed),
             .cancelled = static_cast<std::int64_t>(report.counts.cancelled),
             .elapsed = report.elapsed,
             .audio = report.audio};
  for (const auto& device : report.pool.devices) {
    DeviceUse& use = end.devices.emplace_back();
    use = {.device = device.id,
           .name = device.name,
           .audio = device.audio_done,
           .busy = device.busy,
           .idle = device.idle.by_name()};
    if (const auto drawn = report.device_joules.find(device.id); drawn != report.device_joules.end())
      use.energy_joules = drawn->second;
    if (reports_speed(device, report)) {
      use.windows = std::llround(device.windows_done);
      use.window_capacity = std::max(1, device.slots);
    }
    if (const auto price = options.prices.find(device.id); price != options.prices.end())
      use.cost = usd_of(price->second, report.elapsed);
  }
  auto kept = keep_all_speeds(report, options, history);
  if (auto ended = history.end_run(run, end); !ended) kept = std::move(ended);
  if (!kept) log(Level::error, "the store: " + kept.error().text());
}

}  // namespace tutti
