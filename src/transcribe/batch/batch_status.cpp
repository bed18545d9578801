#include "transcribe/batch/batch_status.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "transcribe/pool/pool_machine.h"
#include "view/fleet/run_report.h"

namespace tutti {
namespace {

constexpr std::size_t kJobsAtOnce = 1000;

/// The devices of a list of ids, as people call them.
std::string labels_of(std::string_view ids, const std::vector<ChosenDevice>& devices) {
  return joined(split(ids, ','), ",", [&](std::string_view id) {
    const auto chosen = std::ranges::find(devices, id, &ChosenDevice::id);
    return chosen == devices.end() ? std::string(id) : chosen->label;
  });
}

/// What decoded audio without a window on any device waits for.
std::string capacity_text(const PoolView& view) {
  for (const auto& device : view.devices)
    if (device.id == view.next_device || view.next_device.empty())
      if (!device.refusal.empty()) return device.refusal;
  return "capacity on a device";
}

/// What is in work has taken time and is no audio done yet: as if the run were stopped now.
std::string finding_so_far(const JobRunOptions& options, const RunSnapshot& run, const PoolView& view) {
  RunNumbers numbers{.elapsed = view.elapsed,
                     .has_retried = run.done.has_retried,
                     .shared_files = options.run.batched,
                     .policy = options.policy,
                     .stopped = true};
  for (const auto& device : view.devices) numbers.devices.push_back(device_time(device));
  return finding_of(numbers);
}

/// What the devices have cost so far, where all have a price.
void add_costs(FleetStatus& status, const JobRunOptions& options) {
  double usd_hour = 0;
  bool all = !status.devices.empty();
  for (std::size_t i = 0; i < status.devices.size(); ++i) {
    const auto price = options.prices.find(options.devices[i].id);
    all = all && price != options.prices.end();
    if (price == options.prices.end()) continue;
    status.devices[i].usd_hour = price->second;
    usd_hour += price->second;
  }
  if (all) status.cost = usd_hour * (status.elapsed / std::chrono::hours(1));
}

}  // namespace

FleetStatus fleet_status(const JobRunOptions& options, const RunSnapshot& run, const PoolView& view,
                         const PoolMachine& machine) {
  const BatchCounts& counts = run.counts;
  const BatchProgress& progress = run.progress;
  FleetStatus status{.run = options.batch,
                     .elapsed = view.elapsed,
                     .jobs = counts.total,
                     .done = counts.done,
                     .failed = counts.failed,
                     .cancelled = counts.cancelled,
                     .audio_done = progress.done,
                     .audio_total = progress.total,
                     .left = progress.all_known ? view.expected_left : std::nullopt,
                     .held_up = run.held_up,
                     .failures = run.failures};
  if (status.left) status.left_error = *status.left * view.error;
  for (const auto& device : options.devices)
    if (device.id == view.next_device) status.next_device = device.label;
  for (std::size_t i = 0; i < view.devices.size(); ++i)
    machine.describe(i, view.devices[i].process,
                     status.devices.emplace_back(device_status(view.devices[i], options.devices[i], view.elapsed)));
  add_costs(status, options);
  status.finding = finding_so_far(options, run, view);
  status.running = run.running;
  status.in_work = run.in_work;
  for (JobStatus& job : status.in_work) {
    if (job.device.empty() && job.waiting_for.empty()) job.waiting_for = capacity_text(view);
    job.device = labels_of(job.device, options.devices);
  }
  return status;
}

namespace {

BatchAsset asset_of(const Job& job, const std::map<JobId, BatchEntry>& entries) {
  const bool ended = is_final(job.state);
  BatchAsset asset{.uuid = job.spec.uuid,
                   .name = job.spec.name,
                   .status = job.state == JobState::dead ? "failed"
                             : ended                     ? std::string(name_of(job.state))
                                                         : "pending",
                   .error = job.state == JobState::done ? "" : job.error,
                   .device = job.device,
                   .attempts = job.attempts,
                   .audio = job.spec.audio.value_or(Seconds(0)),
                   .extra = job.spec.extra};
  const BatchEntry& entry = entries.at(job.id);
  if (ended && entry.use) {
    asset.busy = entry.use->busy;
    asset.busy_on = entry.use->busy_on;
  }
  asset.requested = entry.requested;
  asset.losses = entry.losses;
  asset.kept_files = entry.kept_files;
  asset.notes = entry.notes;
  asset.without_speech = entry.without_speech && job.state == JobState::done;
  if (!entry.left_staged.empty()) {
    asset.status = "failed";
    asset.error = entry.left_staged;
  }
  return asset;
}

}  // namespace

void add_assets(BatchReport& report, JobAdmin& admin, const std::map<JobId, BatchEntry>& entries) {
  // Not by the latest requesting run: another process may have requested the same recordings meanwhile.
  std::vector<JobId> ids;
  for (const auto& [id, entry] : entries) ids.push_back(id);
  for (std::size_t first = 0; first < ids.size(); first += kJobsAtOnce) {
    const auto last = std::min(ids.size(), first + kJobsAtOnce);
    const JobFilter portion{
        .ids = {ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(last)}};
    const auto jobs = admin.jobs(portion, 0, kJobsAtOnce);
    if (!jobs) return log(Level::error, "the store: " + jobs.error().text());
    for (const auto& job : *jobs) {
      BatchAsset& asset = report.assets.emplace_back(asset_of(job, entries));
      if (asset.busy) report.longest = std::max(report.longest, asset.requested);
      if (asset.attempts <= 1 && job.state != JobState::dead) continue;
      if (auto tries = admin.attempts(job.id)) asset.tries = std::move(*tries);
    }
  }
}

}  // namespace tutti
