#include "serve/dashboard/history_json.h"

#include "base/clock.h"
#include "base/json.h"
#include "text/json_bytes.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const DeviceUse& use) {
  Json idle = Json::object();
  for (const auto& [reason, time] : use.idle) idle[reason] = time.count();
  return {{"id", use.device},
          {"name", use.name},
          {"audio_seconds", use.audio.count()},
          {"busy_seconds", use.busy.count()},
          {"idle_seconds", std::move(idle)},
          {"windows", or_null(use.windows)},
          {"energy_joules", or_null(use.energy_joules)},
          {"cost", or_null(use.cost)}};
}

Json json_of(const RunRecord& run) {
  Json json{{"run", run.id},
            {"command", run.start.command},
            {"batch", run.start.batch},
            {"model", run.start.model},
            {"compute_type", run.start.compute_type},
            {"started_unix_seconds", unix_seconds(run.started)},
            {"ended_unix_seconds", run.ended ? Json(unix_seconds(*run.ended)) : Json(nullptr)},
            {"runner", run.start.runner},
            {"state", name_of(state_of(run))},
            {"silent_seconds",
             run.ended ? Json(nullptr) : or_null(run.silent ? std::optional(run.silent->count()) : std::nullopt)}};
  const bool ended = run.ended.has_value();
  const auto known = [&](auto value) { return ended ? Json(value) : Json(nullptr); };
  json["total"] = known(run.end.total);
  json["successful"] = known(run.end.successful);
  json["failed"] = known(run.end.failed);
  json["cancelled"] = known(run.end.cancelled);
  json["duration_seconds"] = known(run.end.elapsed.count());
  json["audio_seconds"] = known(run.end.audio.count());
  json["devices"] = Json::array();
  for (const auto& use : run.end.devices) json["devices"].push_back(json_of(use));
  return json;
}

Json json_of(const SpeedRecord& speed) {
  return {{"device", speed.key.device},
          {"model", speed.key.model},
          {"compute_type", speed.key.compute_type},
          {"concurrency", speed.key.concurrency},
          {"audio_seconds_per_second", speed.speed},
          {"overhead_seconds", speed.overhead.count()},
          {"samples", speed.samples},
          {"median_error_ratio", or_null(speed.median_error)},
          {"at_unix_seconds", unix_seconds(speed.at)}};
}

Json json_of(const DeviceEvent& event) {
  return {{"at_unix_seconds", unix_seconds(event.at)},
          {"device", event.device},
          {"run", event.run},
          {"kind", event.kind},
          {"text", event.text}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

Json counts_json(const JobCounts& jobs) {
  return {{"queued", jobs.queued}, {"running", jobs.running},     {"done", jobs.done},
          {"failed", jobs.dead},   {"cancelled", jobs.cancelled}, {"held", jobs.held}};
}

void hide_names(History& history) {
  for (auto& run : history.runs) {
    run.start.command.clear();
    run.start.batch.clear();
    run.start.model.clear();
    run.start.runner.clear();
  }
  for (auto& speed : history.speeds) speed.key.model.clear();
  for (auto& event : history.events) event.text.clear();
}

std::string history_json(const History& history) {
  const Json json{{"schema", 1},
                  {"runs", list_of(history.runs)},
                  {"speeds", list_of(history.speeds)},
                  {"events", list_of(history.events)},
                  {"recordings_now", history.now ? counts_json(*history.now) : Json(nullptr)}};
  return json_keeping_bytes(json);
}

}  // namespace tutti
