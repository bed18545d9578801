#include "advise/change.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr double kMostSpeed = 1e6;
const std::vector<std::string> kStageKeys{"threads", "queue", "speed"};

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known, std::string_view before) {
  const std::string nearest = nearest_name(word, known);
  if (!nearest.empty()) return "Did you mean '" + std::string(before) + nearest + "'?";
  return "There is " + joined(known, ", ");
}

std::string value_text(double value) {
  return value == std::trunc(value) ? std::to_string(static_cast<long long>(value)) : number_text(value);
}

Result<double> number_of(std::string_view text, const Change& change) {
  const auto value = number_in<double>(text);
  if (change.key == "speed") {
    if (value && *value > 0 && *value <= kMostSpeed) return *value;
    return fail(Fault::usage,
                "expected a number above 0, at most " + value_text(kMostSpeed) + ", found '" + std::string(text) + "'");
  }
  const double most = change.key == "queue" ? kMostQueue : kMostThreads;
  if (value && *value >= 1 && *value <= most && *value == std::trunc(*value)) return *value;
  return fail(Fault::usage,
              "expected a whole number from 1 to " + value_text(most) + ", found '" + std::string(text) + "'");
}

Result<Change> named_change(std::string_view name, const PipelineModel& pipeline) {
  const auto dot = name.rfind('.');
  std::vector<std::string> stages;
  for (const StageModel& stage : pipeline.stages) stages.push_back(stage.name);
  if (dot == std::string_view::npos) {
    if (name == "cores") return Change{.key = "cores"};
    return fail(Fault::usage, "no such setting",
                "A change is STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N");
  }
  const auto stage = name.substr(0, dot), key = name.substr(dot + 1);
  if (stage_index(pipeline, stage) == pipeline.stages.size())
    return fail(Fault::usage, "no stage is called '" + std::string(stage) + "'", did_you_mean(stage, stages, ""));
  if (std::ranges::find(kStageKeys, key) == kStageKeys.end())
    return fail(Fault::usage, "a stage has no setting '" + std::string(key) + "'",
                did_you_mean(key, kStageKeys, std::string(stage) + "."));
  return Change{.stage = std::string(stage), .key = std::string(key)};
}

}  // namespace

std::string Change::text() const {
  return (stage.empty() ? key : stage + "." + key) + "=" + value_text(value);
}

Change twice_as_fast(const StageModel& stage) {
  return {.stage = stage.name, .key = "speed", .value = 2 * stage.speed};
}

Result<Change> parse_change(std::string_view text, const PipelineModel& pipeline) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return fail(Fault::usage, "'" + std::string(text) + "': expected an assignment such as " +
                                  pipeline.stages.front().name + ".threads=4");
  auto change = named_change(trimmed(text.substr(0, equals)), pipeline);
  if (!change) return fail_in("'" + std::string(text) + "'", change.error());
  const auto value = number_of(trimmed(text.substr(equals + 1)), *change);
  if (!value) return fail_in("'" + std::string(text) + "'", value.error());
  change->value = *value;
  return change;
}

PipelineModel changed(PipelineModel pipeline, const Change& change) {
  if (change.stage.empty()) {
    pipeline.cores = static_cast<int>(change.value);
    return pipeline;
  }
  StageModel& stage = pipeline.stages.at(stage_index(pipeline, change.stage));
  if (change.key == "threads")
    for (StageModel& other : pipeline.stages)
      if (is_set_with(other, stage)) other.threads = static_cast<int>(change.value);
  if (change.key == "queue") stage.queue = static_cast<std::size_t>(change.value);
  if (change.key == "speed") stage.speed = change.value;
  return pipeline;
}

}  // namespace tutti
