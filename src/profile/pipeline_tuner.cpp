#include "profile/pipeline_tuner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "device/child_memory.h"
#include "device/machine.h"
#include "device/proc_text.h"
#include "flow/virtual_clock.h"
#include "profile/recording_file.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kEvery{100};
constexpr double kOfFree = 0.8;  // of the memory that is available

bool has_open_stage(const TuningPlan& plan) {
  return std::ranges::any_of(plan.stages, &LiveStage::is_open);
}

/// Resident memory of this process and of the largest one that it has started.
Bytes memory_in_use() {
  const auto status = read_system_file("/proc/self/status");
  const Bytes own = status ? kilobytes_of_key(*status, "VmRSS").value_or(Bytes{}) : Bytes{};
  return Bytes{own.value + largest_child().value_or(Bytes{}).value};
}

}  // namespace

PipelineTuner::PipelineTuner(TuningPlan plan)
    : plan_(std::move(plan)), state_(State{LiveTuner({.stages = plan_.stages, .most_threads = plan_.most_threads})}) {
  plan_.is_on = plan_.is_on && has_open_stage(plan_) && !VirtualSpeedup::of_process();
  if (!plan_.is_on) return;
  key_ = key_of(plan_);
  known_ = recall_tuning(key_);
}

int PipelineTuner::threads_of(std::string_view stage, int usual) const {
  if (!known_) return usual;
  const auto found = std::ranges::find(*known_, stage, [](const auto& it) { return std::string_view(it.first); });
  if (found == known_->end()) return usual;
  const auto open =
      std::ranges::find(plan_.stages, stage, [](const LiveStage& it) { return std::string_view(it.name); });
  const int most = open == plan_.stages.end() ? plan_.most_threads : std::min(open->most, plan_.most_threads);
  const int least = open == plan_.stages.end() ? 1 : std::min(open->least, most);
  return std::clamp(found->second, least, most);
}

Result<void> PipelineTuner::begin_as_known(Pipeline& pipeline) const {
  for (const StageReport& stage : pipeline.report().stages) {
    const int usual = std::max(1, stage.threads.all()), known = threads_of(stage.name, usual);
    if (known == usual) continue;
    if (auto set = pipeline.set_threads(stage.name, known); !set) return set;
  }
  return {};
}

LiveMachine PipelineTuner::machine_now(const PipelineReport& report) const {
  const int cores = usable_cores();
  Seconds working{};
  for (const StageReport& stage : report.stages)
    for (const LiveStage& mine : plan_.stages)
      if (mine.name == stage.name && mine.resource == StageResource::cpu) working += stage.times.busy;
  LiveMachine machine{.cores = static_cast<double>(cores),
                      .on_core = processor_.on_core(working, cores),
                      .least_on_core = processor_.least_on_core(working)};
  const Bytes used = memory_in_use();
  Bytes allowed = plan_.memory.value_or(Bytes{});
  if (const auto memory = read_memory(); !plan_.memory && memory)
    allowed.value = used.value + static_cast<std::int64_t>(kOfFree * static_cast<double>(memory->available.value));
  if (used.value > 0 && allowed.value > 0)
    machine.growth = static_cast<double>(allowed.value) / static_cast<double>(used.value);
  return machine;
}

void PipelineTuner::watch(Pipeline& pipeline, Complete complete) {
  if (!plan_.is_on || thread_) return;
  start_ = Clock::real().now();
  thread_ = std::make_unique<PeriodicThread>(
      kEvery, [this, &pipeline, complete = std::move(complete)] { look(pipeline, complete); });
}

void PipelineTuner::look(Pipeline& pipeline, const Complete& complete) {
  PipelineReport report = pipeline.report();
  if (complete) complete(report);
  const Seconds at = Clock::real().now() - start_;
  const auto [settings, settled] = state_.with([&](State& state) {
    const bool was_settled = state.tuner.result().is_settled;
    auto changed = state.tuner.look(at, report, [&] { return machine_now(report); });
    const TuningResult& now = state.tuner.result();
    return std::pair(std::move(changed), now.is_settled && !was_settled ? std::optional(now) : std::nullopt);
  });
  for (const auto& [stage, threads] : settings)
    if (auto set = pipeline.set_threads(stage, threads); !set) log(Level::warning, set.error().text());
  if (!settings.empty()) note_change(settings);
  if (settled) remember_tuning(key_, *settled);  // now, for its end may be in the midst of another round
}

void PipelineTuner::note_change(const ThreadSettings& settings) {
  state_.with([&](State& state) {
    ThreadHistory& history = state.history;
    if (history.changes.empty()) history.begun = state.tuner.result().before;
    ThreadSettings threads = history.changes.empty() ? history.begun : history.changes.back().threads;
    for (const auto& [stage, count] : settings)
      for (auto& [name, now] : threads)
        if (name == stage) now = count;
    history.changes.push_back({Clock::real().now(), std::move(threads)});
  });
}

std::optional<TuningResult> PipelineTuner::stop() {
  if (!thread_) return std::nullopt;
  thread_.reset();
  const TuningResult result = state_.with([](const State& state) { return state.tuner.result(); });
  if (result.rounds == 0) return std::nullopt;
  return result;
}

namespace {

/// Items of a recording from `first` to `last`, which took from `begin` to `end`.
struct Part {
  std::size_t first = 0, last = 0;
  Clock::Instant begin{}, end{};
  const ThreadSettings* threads = nullptr;

  std::size_t items() const { return last - first; }
  /// How often each of its threads had an item.
  double rounds() const {
    int all = 0;
    for (const auto& [stage, count] : *threads) all += count;
    return static_cast<double>(items()) / std::max(1, all);
  }
};

/// When work on each item began, had it never waited.
std::vector<Clock::Instant> starts_of(const RunRecording& recording, const std::vector<Clock::Instant>& ends) {
  std::vector<Clock::Instant> starts = ends;
  for (const RecordedStage& stage : recording.stages)
    for (std::size_t i = 0; i < std::min(starts.size(), stage.items.size()); ++i)
      starts[i] -= std::chrono::duration_cast<Clock::Instant::duration>(stage.items[i]);
  return starts;
}

/// Without the items that were under way when it began: other threads had done a part of them.
Part begun_within(Part part, const std::vector<Clock::Instant>& starts) {
  while (part.first < part.last && starts[part.first] < part.begin) ++part.first;
  if (part.items() == 0) return part;
  const auto first = starts.begin() + static_cast<std::ptrdiff_t>(part.first);
  const auto last = starts.begin() + static_cast<std::ptrdiff_t>(part.last);
  part.begin = std::max(part.begin, *std::min_element(first, last));
  return part;
}

/// By the threads that were set; of each the items that ended with these, and but for the first also began with them.
std::vector<Part> parts_of(const RunRecording& recording, const std::vector<Clock::Instant>& ends,
                           const ThreadHistory& history) {
  const auto end = *std::ranges::max_element(ends);
  const auto starts = starts_of(recording, ends);
  std::vector<Part> parts{{.begin = end - std::chrono::duration_cast<Clock::Instant::duration>(recording.elapsed),
                           .threads = &history.begun}};
  const auto from = [&](Clock::Instant at) {
    return static_cast<std::size_t>(std::ranges::find_if(ends, [at](Clock::Instant done) { return done >= at; }) -
                                    ends.begin());
  };
  for (const ThreadHistory::Change& change : history.changes) {
    parts.back().last = from(change.at);
    parts.back().end = change.at;
    parts.push_back({.first = parts.back().last, .begin = change.at, .threads = &change.threads});
  }
  parts.back().last = ends.size();
  parts.back().end = end;
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i] = begun_within(parts[i], starts);
  return parts;
}

template <class T>
void keep_part(std::vector<T>& values, const Part& part) {
  const auto at = [&](std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size()));
  };
  values = std::vector<T>(at(part.first), at(part.last));
}

}  // namespace

RunRecording settled_part(RunRecording recording, const std::vector<Clock::Instant>& ends,
                          const ThreadHistory& history) {
  constexpr std::size_t kFewest = 8;
  constexpr double kFewestRounds = 2;
  if (ends.empty() || history.changes.empty()) return recording;
  const auto parts = parts_of(recording, ends, history);
  const bool is_last = parts.back().items() >= kFewest && parts.back().rounds() >= kFewestRounds;
  const Part& part = is_last ? parts.back() : *std::ranges::max_element(parts, {}, &Part::rounds);
  if (part.items() == 0) return recording;
  for (RecordedStage& stage : recording.stages) {
    keep_part(stage.items, part);
    for (const auto& [name, threads] : *part.threads)
      if (name == stage.name) stage.threads = threads;
  }
  keep_part(recording.lengths, part);
  const Seconds elapsed = part.end - part.begin;
  recording.settling = {.elapsed = std::max(Seconds(0), recording.elapsed - elapsed),
                        .items = ends.size() - part.items()};
  recording.elapsed = elapsed;
  return recording;
}

std::string tuning_sentence(const TuningResult& result) {
  if (!result.has_changed()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(result.before.size(), result.now.size()); ++i) {
    const auto& [stage, threads] = result.now[i];
    text += (text.empty() ? "" : ", ") + stage + " " + std::to_string(result.before[i].second);
    if (threads != result.before[i].second) text += " -> " + std::to_string(threads);
  }
  text = "Threads were tuned: " + text;
  if (result.rate_before > 0 && result.rate_now > 0)
    text += "; " + short_number(result.rate_now / result.rate_before) + " times as fast as before";
  return text + ".";
}

nlohmann::ordered_json tuning_json(const TuningResult& result) {
  const auto of = [](const ThreadSettings& settings) {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [stage, threads] : settings) json[stage] = threads;
    return json;
  };
  return {{"threads", of(result.now)},      {"threads_before", of(result.before)},
          {"items_per_s", result.rate_now}, {"items_per_s_before", result.rate_before},
          {"rounds", result.rounds},        {"settled", result.is_settled}};
}

}  // namespace tutti
