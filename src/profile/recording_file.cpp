#include "profile/recording_file.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "device/cgroup.h"
#include "metrics/recording_request.h"
#include "profile/timeline.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const RecordedStage& stage) {
  Json json{{"name", stage.name},
            {"resource", name_of(stage.resource)},
            {"threads", stage.threads},
            {"queue", stage.queue},
            {"threads_flag", stage.threads_flag},
            {"queue_flag", stage.queue_flag},
            {"busy", stage.times.busy.count()},
            {"starved", stage.times.waiting.count()},
            {"blocked", stage.times.blocked.count()},
            {"on_core", stage.on_core},
            {"core_wait", stage.core_wait.count()},
            {"on_processor", stage.on_processor},
            {"items", Json::array()}};
  for (const Seconds item : stage.items) json["items"].push_back(item.count());
  return json;
}

StageResource resource_of(const std::string& name) {
  for (const StageResource resource : {StageResource::cpu, StageResource::device})
    if (name == name_of(resource)) return resource;
  return StageResource::io;
}

RecordedStage stage_of(const Json& json) {
  RecordedStage stage{.name = json.at("name").get<std::string>(),
                      .resource = resource_of(json.at("resource").get<std::string>()),
                      .threads = std::max(1, json.at("threads").get<int>()),
                      .queue = std::max<std::size_t>(1, json.at("queue").get<std::size_t>()),
                      .threads_flag = json.at("threads_flag").get<std::string>(),
                      .queue_flag = json.value("queue_flag", std::string()),
                      .times = {.busy = Seconds(json.at("busy").get<double>()),
                                .waiting = Seconds(json.at("starved").get<double>()),
                                .blocked = Seconds(json.at("blocked").get<double>())},
                      .on_core = json.value("on_core", 1.0),
                      .core_wait = Seconds(json.value("core_wait", 0.0)),
                      .on_processor = json.value("on_processor", false)};
  for (const Json& item : json.at("items")) stage.items.emplace_back(item.get<double>());
  stage.times.name = stage.name;
  stage.times.count = stage.items.size();
  return stage;
}

RunTimeline timeline_of(const Json& json) {
  RunTimeline timeline{.at = json.at("at"), .done = json.at("done")};
  for (const Json& stage : json.at("stages"))
    timeline.stages.push_back({stage.at("name"), stage.at("busy"), stage.at("queue")});
  return timeline;
}

constexpr std::pair<const char*, Phase StepPhases::*> kPhases[] = {{"load", &StepPhases::load},
                                                                   {"preprocess", &StepPhases::preprocess},
                                                                   {"transfer", &StepPhases::transfer},
                                                                   {"training", &StepPhases::training},
                                                                   {"total", &StepPhases::total}};
constexpr std::pair<const char*, Seconds Spread::*> kPhaseTimes[] = {
    {"mean", &Spread::mean}, {"std", &Spread::deviation}, {"min", &Spread::least},
    {"max", &Spread::most},  {"p50", &Spread::p50},       {"p95", &Spread::p95}};

StepPhases phases_of(const Json& json) {
  StepPhases phases;
  for (const auto& [key, member] : kPhases) {
    Phase& phase = phases.*member;
    for (const auto& [name, time] : kPhaseTimes) phase.times.*time = Seconds(json.at(key).at(name).get<double>());
    phase.share = json.at(key).at("share");
  }
  return phases;
}

RunRecording recording_of(const Json& json) {
  RunRecording recording{.command = json.at("command").get<std::string>(),
                         .unit = json.at("unit").get<std::string>(),
                         .cores = std::max(1, json.at("cores").get<int>()),
                         .elapsed = Seconds(json.at("elapsed").get<double>()),
                         .held_up = Seconds(json.value("held_up", 0.0))};
  for (const Json& stage : json.at("stages")) recording.stages.push_back(stage_of(stage));
  if (json.contains("lengths")) recording.lengths = json.at("lengths").get<std::vector<double>>();
  if (json.contains("settling"))
    recording.settling = {.elapsed = Seconds(json.at("settling").at("seconds").get<double>()),
                          .items = json.at("settling").at("items").get<std::size_t>()};
  if (json.contains("phases")) recording.phases = phases_of(json.at("phases"));
  if (json.contains("timeline")) recording.timeline = timeline_of(json.at("timeline"));
  return recording;
}

}  // namespace

nlohmann::ordered_json phases_json(const StepPhases& phases) {
  Json json;
  for (const auto& [key, member] : kPhases) {
    const Phase& phase = phases.*member;
    for (const auto& [name, time] : kPhaseTimes) json[key][name] = (phase.times.*time).count();
    json[key]["share"] = phase.share;
  }
  return json;
}

std::optional<std::filesystem::path> recording_wanted() {
  const auto& file = recording_request().recording;
  return file.empty() ? std::nullopt : std::optional(file);
}

void note_clocks(RecordedStage& stage, const StageReport& report) {
  stage.times = times_of(report);
  stage.queue = std::clamp<std::size_t>(report.output.limits.items, 1, 1'000'000);
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = read_cgroup_limits("/").cores.value_or(allowed);
  return std::max(1, std::min(allowed, static_cast<int>(std::lround(quota))));
}

Result<void> write_recording(const RunRecording& recording, const std::filesystem::path& file) {
  Json json{{"command", recording.command},
            {"unit", recording.unit},
            {"cores", recording.cores},
            {"elapsed", recording.elapsed.count()},
            {"held_up", recording.held_up.count()},
            {"stages", Json::array()}};
  for (const RecordedStage& stage : recording.stages) json["stages"].push_back(json_of(stage));
  if (!recording.lengths.empty()) json["lengths"] = recording.lengths;
  if (recording.settling.items > 0)
    json["settling"] = {{"seconds", recording.settling.elapsed.count()}, {"items", recording.settling.items}};
  if (recording.phases) json["phases"] = phases_json(*recording.phases);
  if (!recording.timeline.at.empty()) json["timeline"] = timeline_json(recording.timeline);
  return write_file_atomically(file, json_line(json));
}

Result<RunRecording> read_recording(const std::filesystem::path& file) {
  const auto text = read_file(file);
  const auto nothing = [] {
    return fail(Fault::missing, "nothing was measured: the command finished no item",
                "Give it files that it can work on, and more time");
  };
  if (!text) return nothing();
  try {
    auto recording = recording_of(Json::parse(*text));
    const auto has_none = [](const RecordedStage& stage) { return stage.items.empty(); };
    if (recording.stages.empty() || std::ranges::any_of(recording.stages, has_none)) return nothing();
    return recording;
  } catch (const Json::exception& error) {
    return fail(Fault::corrupt, file.string() + ": expected a recording, found: " + error.what());
  }
}

}  // namespace tutti
