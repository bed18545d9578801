#include "serve/dashboard/dashboard_json.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "device/machine.h"
#include "serve/dashboard/history_json.h"
#include "serve/jobs/job_json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMegabyte = 1024 * 1024;

Json megabytes(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->value / kMegabyte) : Json(nullptr);
}

/// Why a job of the store does not run, for people; empty: it does, or is over.
std::string why_waiting(const Job& job, const std::optional<FleetStatus>& fleet) {
  const auto now = std::chrono::time_point_cast<StoreTime::duration>(std::chrono::system_clock::now());
  if (auto why = why_not_yet(job, now)) return std::move(*why);
  if (!fleet) return "no batch runs on this store";
  if (!fleet->held_up.empty()) return fleet->held_up;
  return std::to_string(fleet->running) + " recordings are in work, and its turn comes by priority and age";
}

/// How far the jobs are that are in work, by their ids: the store learns it less often.
std::map<std::string, double> progress_by_id(const std::optional<FleetStatus>& fleet) {
  std::map<std::string, double> found;
  if (!fleet) return found;
  for (const JobStatus& job : fleet->in_work)
    if (job.length && *job.length > Seconds(0)) found[job.id] = std::min(1.0, job.done / *job.length);
  return found;
}

}  // namespace

bool may_steer(const Viewer& viewer, std::string_view owner) {
  return viewer && (viewer->is_operator || is_of_client(owner, viewer->fingerprint));
}

FleetStatus seen_by(const Viewer& viewer, FleetStatus fleet) {
  if (viewer && viewer->is_operator) return fleet;
  fleet.run.clear();
  fleet.state_folder.clear();
  for (auto& job : fleet.in_work)
    if (!may_steer(viewer, job.client)) job.name = "recording " + job.id;
  for (auto& failure : fleet.failures) {
    failure.name = "a recording";
    failure.error.clear();
  }
  return fleet;
}

double busy_share(const FleetStatus& fleet) {
  if (fleet.devices.empty()) return 0;
  const auto busy = std::ranges::count_if(fleet.devices, [](const auto& device) { return device.windows > 0; });
  return static_cast<double>(busy) / static_cast<double>(fleet.devices.size());
}

std::string status_json(const StatusView& view, const std::optional<FleetStatus>& fleet, const Viewer& viewer) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const Json json{{"at_unix_seconds", view.at},
                  {"model", or_null(view.model)},
                  {"client", viewer ? Json{{"name", viewer->name}, {"operator", viewer->is_operator}} : Json(nullptr)},
                  {"state_folder", viewer && viewer->is_operator ? or_null(view.state) : Json(nullptr)},
                  {"jobs", view.counts ? counts_json(*view.counts) : Json(nullptr)},
                  {"fleet", nullptr}};
  std::string text = json_line(json);
  if (!fleet) return text;
  // Spliced in as it is: names in it may hold bytes that only its own writer keeps.
  const std::string tail = "null}";
  return text.substr(0, text.size() - tail.size()) + std::string(trimmed(fleet_status_json(seen_by(viewer, *fleet)))) +
         "}";
}

Result<QueuePage> read_queue_page(const std::map<std::string, std::string>& parameters) {
  QueuePage page{.limit = limit_of(parameters, 50, 200)};
  if (const auto before = parameters.find("before"); before != parameters.end())
    page.before = job_id_of(before->second).value_or(0);
  if (const auto name = parameters.find("name"); name != parameters.end()) page.name = name->second;
  const auto states = parameters.find("state");
  if (states == parameters.end()) return page;
  for (const auto name : split(states->second, ',')) {
    const auto state = state_of(name);
    if (!state)
      return fail(Fault::usage, "state: expected queued, running, done, failed, cancelled or held, found '" +
                                    std::string(name.substr(0, 40)) + "'");
    page.filter.states.push_back(*state);
  }
  return page;
}

Json queue_json(const JobCounts& counts, const std::vector<Job>& jobs, const std::optional<FleetStatus>& fleet,
                const Viewer& viewer) {
  Json list = Json::array();
  const auto in_work = progress_by_id(fleet);
  for (const Job& job : jobs) {
    const auto now = in_work.find(std::to_string(job.id));
    const double progress = now == in_work.end() ? job.progress : now->second;
    const bool of_service = is_job_of_service(job);
    const bool own = viewer && is_of_client(job.spec.batch, viewer->fingerprint);
    const bool with_names = may_steer(viewer, job.spec.batch);
    const std::string waits = why_waiting(job, fleet);
    const auto fields = fields_of(job);
    const auto requested = [&](std::string_view name) {
      if (!fields) return Json(nullptr);
      const auto found = std::ranges::find(*fields, name, &FormFields::value_type::first);
      return found == fields->end() ? Json(nullptr) : Json(found->second);
    };
    list.push_back({{"id", job.id},
                    {"name", with_names ? job.spec.name : "recording " + std::to_string(job.id)},
                    {"state", status_of(job.state)},
                    {"class", name_of(job.spec.job_class)},
                    {"priority", job.spec.priority},
                    {"progress", job.state == JobState::done ? 1.0 : progress},
                    {"of_service", of_service},
                    {"may_steer", with_names},
                    {"own", own},
                    {"has_result", own && job.state == JobState::done},
                    {"device", job.device},
                    {"task", requested("task")},
                    {"language", requested("language")},
                    {"submitted_unix_seconds", unix_seconds(job.submitted)},
                    {"attempts", job.attempts},
                    {"audio_seconds", job.spec.audio ? Json(job.spec.audio->count()) : Json(nullptr)},
                    {"error", with_names && job.state != JobState::done ? Json(job.error) : Json("")},
                    {"why_waiting", waits}});
  }
  return {{"counts", counts_json(counts)},
          {"jobs", std::move(list)},
          {"next_before", jobs.empty() ? Json(nullptr) : Json(jobs.back().id)}};
}

Json throughput_json(const std::vector<FleetSample>& samples,
                     const std::map<std::string, std::vector<FleetSample>>& devices, double at, double minutes) {
  const auto list_of = [](const std::vector<FleetSample>& all) {
    Json list = Json::array();
    for (const FleetSample& sample : all)
      list.push_back({sample.at, sample.speed, sample.busy ? Json(*sample.busy) : Json(nullptr)});
    return list;
  };
  Json of_devices = Json::array();
  for (const auto& [id, all] : devices) of_devices.push_back({{"id", id}, {"samples", list_of(all)}});
  return {{"now_unix_seconds", at},
          {"minutes", minutes},
          {"columns", {"at_unix_seconds", "audio_seconds_per_second", "busy_ratio"}},
          {"samples", list_of(samples)},
          {"devices", std::move(of_devices)}};
}

Json resources_json(const std::optional<FleetStatus>& fleet, const JobCounts& counts) {
  Json gpus = Json::array();
  if (fleet)
    for (const auto& device : fleet->devices)
      gpus.push_back({{"id", device.id},
                      {"name", device.name},
                      {"total_mb", megabytes(device.total_memory)},
                      {"slots_used", device.windows},
                      {"slots_max", device.most_windows ? Json(*device.most_windows) : Json(nullptr)},
                      {"jobs", device.jobs},
                      {"state", device.state}});
  const auto memory = read_memory();
  // What no device has taken yet is in the store alone, and what no store has is in the run alone.
  const auto waiting = std::max<std::int64_t>(fleet ? static_cast<std::int64_t>(fleet->waiting()) : 0, counts.queued);
  return {{"gpus", std::move(gpus)},
          {"system_ram_mb", megabytes(memory ? std::optional(memory->total) : std::nullopt)},
          {"system_ram_available_mb", megabytes(memory ? std::optional(memory->available) : std::nullopt)},
          {"pending_jobs", waiting}};
}

Json audit_json(const std::vector<AuditEntry>& entries) {
  Json list = Json::array();
  for (const auto& entry : entries)
    list.push_back({{"at_unix_seconds", entry.at},
                    {"action", entry.action},
                    {"target", entry.target},
                    {"client", entry.client},
                    {"address", entry.address},
                    {"error", entry.error.empty() ? Json(nullptr) : Json(entry.error)}});
  return {{"entries", std::move(list)}};
}

std::size_t limit_of(const std::map<std::string, std::string>& parameters, std::size_t usual, std::size_t most,
                     const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return usual;
  const auto value = number_in<std::size_t>(found->second);
  return value ? std::clamp<std::size_t>(*value, 1, most) : usual;
}

std::optional<JobId> job_id_of(const std::string& text) {
  const auto id = number_in<JobId>(text);
  return id && *id > 0 ? id : std::nullopt;
}

}  // namespace tutti
