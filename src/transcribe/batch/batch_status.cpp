#include "transcribe/batch/batch_status.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "transcribe/pool/pool_machine.h"
#include "view/fleet/run_report.h"

namespace tutti {
namespace {

constexpr std::size_t kRowsAtOnce = 1000;

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
  if (all) status.cost = usd_of(usd_hour, status.elapsed);
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
  if (job.state == JobState::done) asset.replacements = entry.replacements;
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
  for (std::size_t first = 0; first < ids.size(); first += kRowsAtOnce) {
    const auto last = std::min(ids.size(), first + kRowsAtOnce);
    const JobFilter portion{
        .ids = {ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(last)}};
    const auto jobs = admin.jobs(portion, 0, kRowsAtOnce);
    if (!jobs) return log(Level::error, "the store: " + jobs.error().text());
    for (const auto& job : *jobs) {
      BatchAsset& asset = report.assets.emplace_back(asset_of(job, entries));
      if (asset.busy) report.longest = std::max(report.longest, asset.requested);
      if (asset.attempts <= 1 && job.state != JobState::dead) continue;
      if (auto tries = admin.attempts(job.id)) asset.tries = std::move(*tries);
    }
  }
}

// ---- of a store that machines share

namespace {

constexpr std::size_t kJobsShown = 200;
constexpr std::chrono::hours kLostShown{1};  // after its latest heartbeat

/// The machine and the process of an owner, "HOST.PID.TOKEN".
std::string runner_of(const std::string& owner) {
  const auto end = owner.rfind('.');
  return end == std::string::npos ? owner : owner.substr(0, end);
}

/// Batches that have jobs which have not ended: those in work, and those that wait.
Result<std::set<std::string>> open_batches(JobStore& store, const std::vector<Job>& running) {
  std::set<std::string> batches;
  for (const Job& job : running) batches.insert(job.spec.batch);
  auto waiting = TRY(store.waiting_batches("/"));
  batches.insert(waiting.begin(), waiting.end());
  return batches;
}

/// Its devices, each behind its runner's name, and what they have done. Of one that is lost they show since when.
void add_runner(FleetStatus& fleet, const RunRecord& run) {
  const auto reported = read_fleet_status(run.status);
  if (!reported) return;  // of a newer version
  const bool is_lost = state_of(run) == RunState::lost;
  const Seconds silent = run.silent.value_or(Seconds(0));
  for (DeviceStatus device : reported->devices) {
    device.id = run.start.runner + " " + device.id;
    if (is_lost) {
      device = {.id = device.id, .name = device.name, .uuid = device.uuid, .state = "lost", .since = silent};
      device.reason = "its runner was killed, or is cut off; others do its jobs";
    }
    device.silent = silent;
    fleet.devices.push_back(std::move(device));
  }
  if (is_lost) return;
  fleet.elapsed = std::max(fleet.elapsed, reported->elapsed);
  fleet.audio_done += reported->audio_done;
  if (fleet.held_up.empty() && !reported->held_up.empty()) fleet.held_up = run.start.runner + ": " + reported->held_up;
  if (reported->cost) fleet.cost = fleet.cost.value_or(0) + *reported->cost;
}

JobStatus status_of(const Job& job, const std::string& device) {
  JobStatus status{.id = std::to_string(job.id), .name = job.spec.name, .device = device, .length = job.spec.audio};
  if (status.name.empty()) status.name = std::filesystem::path(job.spec.input).filename();
  if (job.spec.audio) status.done = *job.spec.audio * job.progress;
  return status;
}

}  // namespace

std::vector<OtherRunner> other_runners(RunHistory& history, RunId own, StoreTime since, StoreTime now) {
  std::vector<OtherRunner> others;
  const auto runs = history.runs_seen(since);
  if (!runs) log(Level::warning, "the store: " + runs.error().text());
  if (!runs) return others;
  for (const RunRecord& run : *runs) {
    const auto reported = read_fleet_status(run.status);
    if (run.id == own || !reported) continue;
    OtherRunner& other = others.emplace_back(OtherRunner{.name = run.start.runner, .state = state_of(run)});
    other.joined = run.started - since;
    const StoreTime seen = now - std::chrono::ceil<std::chrono::milliseconds>(run.silent.value_or(Seconds(0)));
    other.present = std::max(Seconds(0), Seconds(run.ended.value_or(seen) - std::max(run.started, since)));
    if (other.state == RunState::lost) other.silent = run.silent;
    other.audio = reported->audio_done;
    other.devices = reported->devices;
  }
  return others;
}

Result<FleetStatus> fleet_of_store(JobStore& store, const StoreUrl& url) {
  const auto running = TRY(store.jobs({.states = {JobState::running}}, 0, kJobsShown));
  const auto batches = TRY(open_batches(store, running));
  FleetStatus status{.run = url.text()};
  for (const auto& batch : batches) {
    const auto counts = TRY(store.counts({.batch = batch}));
    status.jobs += static_cast<std::size_t>(counts.total());
    status.done += static_cast<std::size_t>(counts.done);
    status.failed += static_cast<std::size_t>(counts.dead);
    status.cancelled += static_cast<std::size_t>(counts.cancelled);
    status.running += static_cast<std::size_t>(counts.running);
  }
  const auto runs = TRY(store.runs_seen(store.now() - kLostShown));
  std::set<std::string> known;
  for (const RunRecord& run : runs)
    if (!run.ended && known.insert(run.start.runner).second) add_runner(status, run);
  std::map<std::string, DeviceStatus> others;  // that hold jobs and report nothing: services
  for (const Job& job : running) {
    const std::string runner = runner_of(job.owner);
    const std::string name = runner + (job.device.empty() ? "" : " " + job.device);
    status.in_work.push_back(status_of(job, name));
    if (known.contains(runner)) continue;
    DeviceStatus& device = others[name];
    device.id = name;
    ++device.jobs;
  }
  for (auto& [name, device] : others) status.devices.push_back(std::move(device));
  if (running.size() < kJobsShown) status.running = running.size();  // of the same look as the devices
  return status;
}

}  // namespace tutti
