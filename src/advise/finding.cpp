#include "advise/finding.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tutti {
namespace {

constexpr double kAboutAsMuch = 0.5;   // part of a gain
constexpr double kLeastOthers = 0.05;  // gain without other programs that is worth to be named
constexpr double kPlainly = 0.2;       // share of the time from which a cause limits a run that is not explained

constexpr double kNoticedCores = 0.2;
constexpr double kNoticedShare = 0.02;
constexpr double kNoticedPages = 100;     // a second
constexpr double kNoticedUnequal = 0.05;  // what longest first gains
constexpr double kSameLength = 0.05;
constexpr double kSameRate = 0.02;
constexpr double kManyCoreWaits = 0.1;  // of the time of a device's thread
constexpr double kManyStalls = 0.2;     // share of the time that stalls take, from which threads are too many

int threads_on_cores(const RunRecording& recording) {
  int threads = 0;
  for (const RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu) threads += stage.threads;
  return threads;
}

/// The run with no more threads than cores on each computing stage.
RunRecording within_cores(RunRecording recording) {
  for (RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu) stage.threads = std::min(stage.threads, recording.cores);
  return recording;
}

/// Whether the items can be put in another order, and their lengths differ. The steps of a training have theirs.
bool has_unequal_lengths(const RunRecording& recording) {
  const auto& lengths = recording.lengths;
  if (recording.phases || lengths.size() != recording.stages.front().items.size()) return false;
  const auto [least, most] = std::ranges::minmax(lengths);
  return most > (1 + kSameLength) * least;
}

RunRecording longest_first(RunRecording recording) {
  const std::size_t items = recording.lengths.size();
  std::vector<std::size_t> order(items);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t item) { return recording.lengths[item]; });
  for (RecordedStage& stage : recording.stages) {
    if (stage.items.size() != items) continue;
    std::vector<Seconds> sorted;
    for (const std::size_t item : order) sorted.push_back(stage.items[item]);
    stage.items = std::move(sorted);
  }
  return recording;
}

/// Devices whose own thread had no core for much of its time, while no other program had it.
void add_core_waits(const RunRecording& recording, std::vector<SideCause>& found) {
  for (const RecordedStage& stage : recording.stages) {
    const Seconds busy = stage.times.busy;
    if (busy.count() <= 0 || stage.core_wait < kManyCoreWaits * busy) continue;
    found.push_back(
        {.cause = Cause::too_many_threads, .core_wait = stage.core_wait / busy, .flag = stage.threads_flag});
  }
}

/// Of the time in which the run's threads could have run, the share in which other programs had the cores that they
/// lacked. Where they want more cores than there are, they also wait for one another.
double wait_for_others(const RunRecording& recording, const MachineEvidence& evidence) {
  const double beyond = std::max(0.0, evidence.wanted_cores - recording.cores);
  const double all = evidence.other_cores + beyond;
  return all > 0 ? std::clamp(evidence.core_wait * evidence.other_cores / all, 0.0, 0.9) : 0;
}

/// What the run would gain had its threads never waited for other programs, by replay.
double gain_without_others(const RunRecording& recording, double wait) {
  if (wait <= 0 || recording.stages.empty() || recording.stages.front().items.empty()) return 0;
  PipelineModel pipeline = model_of(recording);
  const double rate = rate_of_run(pipeline);
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s)
    if (recording.stages[s].resource == StageResource::cpu || recording.stages[s].on_processor)
      pipeline.stages[s].speed /= 1 - wait;
  return rate > 0 ? rate_of_run(pipeline) / rate - 1 : 0;
}

void add_other_processes(const RunRecording& recording, const MachineEvidence& evidence,
                         std::vector<SideCause>& found) {
  if (evidence.other_cores < kNoticedCores) return;
  const double wait = wait_for_others(recording, evidence);
  found.push_back({.cause = Cause::other_processes,
                   .number = evidence.other_cores,
                   .gain = gain_without_others(recording, wait),
                   .core_wait = wait,
                   .of = evidence.cores});
}

const RecordedStage* stage_named(const RunRecording& recording, const std::string& name) {
  const auto found = std::ranges::find(recording.stages, name, &RecordedStage::name);
  return found == recording.stages.end() ? nullptr : &*found;
}

bool has_flag(const RunRecording& recording, const Change& change) {
  const RecordedStage* stage = stage_named(recording, change.stage);
  if (!stage) return false;
  return change.key == "threads" ? !stage->threads_flag.empty() : change.key == "queue" && !stage->queue_flag.empty();
}

/// Whether the change is one of the stage, or of the threads that it shares with it.
bool is_of(const RunRecording& recording, const Change& change, const std::string& stage) {
  if (change.stage == stage) return true;
  const RecordedStage *one = stage_named(recording, change.stage), *other = stage_named(recording, stage);
  return one && other && change.key == "threads" && one->threads_flag == other->threads_flag;
}

double gain_of(const Fix& fix, const Diagnosis& found) {
  return fix.items_per_s / found.items_per_s - 1;
}

/// A change of the limiting stage where it gains about as much as the best; of two that are as good, threads come
/// before a queue, which only evens out.
std::optional<Fix> advice_of(const RunRecording& recording, const Diagnosis& found) {
  std::vector<const Fix*> flagged;
  for (const Fix& fix : found.fixes)
    if (has_flag(recording, fix.changes.front())) flagged.push_back(&fix);
  for (const Fix& fix : found.together)
    if (std::ranges::all_of(fix.changes, [&](const Change& change) { return has_flag(recording, change); }) &&
        flagged.empty())
      flagged.push_back(&fix);
  if (flagged.empty()) {
    for (const auto* fixes : {&found.fixes, &found.together})
      if (!fixes->empty()) return fixes->front();
    return std::nullopt;
  }
  const double best = gain_of(*flagged.front(), found);
  const auto counts = [&](const Fix* fix) { return gain_of(*fix, found) >= kAboutAsMuch * best; };
  const auto is_own = [&](const Fix* fix) {
    return counts(fix) && is_of(recording, fix->changes.front(), found.limit.stage);
  };
  const auto threads = std::ranges::find_if(
      flagged, [&](const Fix* fix) { return is_own(fix) && fix->changes.front().key == "threads"; });
  if (threads != flagged.end()) return **threads;
  const auto own = std::ranges::find_if(flagged, is_own);
  return own != flagged.end() ? **own : *flagged.front();
}

/// What part of the time a cause costs, where that is measured.
double cost_of(const RunRecording& recording, const SideCause& cause) {
  switch (cause.cause) {
    case Cause::other_processes: return cause.gain / (1 + cause.gain);
    case Cause::cpu_quota: return cause.number / (cause.number + recording.cores);
    case Cause::memory_pressure:
    case Cause::throttling:
    case Cause::slow_files: return cause.number;
    default: return 0;
  }
}

const SideCause* most_of(const std::vector<SideCause>& causes, const auto& value) {
  const auto most = std::ranges::max_element(causes, {}, value);
  return most == causes.end() ? nullptr : &*most;
}

}  // namespace

std::vector<SideCause> side_causes(const RunRecording& recording, const MachineEvidence& evidence) {
  std::vector<SideCause> found;
  const auto add = [&](Cause cause, bool is_noticed, double number, double gain = 0) {
    if (is_noticed) found.push_back({cause, number, gain});
  };
  add_other_processes(recording, evidence, found);
  add(Cause::cpu_quota, evidence.throttled_cores >= kNoticedShare * recording.cores, evidence.throttled_cores);
  if (evidence.memory_stall >= kNoticedShare || evidence.swapped_a_second >= kNoticedPages)
    found.push_back({Cause::memory_pressure, evidence.memory_stall, 0, evidence.swapped_a_second});
  add(Cause::throttling, evidence.hot >= kNoticedShare, evidence.hot);
  const double held_up = recording.elapsed.count() > 0 ? recording.held_up / recording.elapsed : 0;
  add(Cause::slow_files, held_up >= kNoticedShare && held_up < 1, held_up, held_up / (1 - held_up));
  if (recording.stages.empty() || recording.stages.front().items.size() < 2) return found;
  const double rate = replayed_rate(recording);
  if (rate <= 0) return found;
  const int surplus = threads_on_cores(recording) - recording.cores;
  const RunRecording fewer = within_cores(recording);
  const bool gains_nothing =
      threads_on_cores(fewer) < threads_on_cores(recording) && replayed_rate(fewer) >= (1 - kSameRate) * rate;
  add(Cause::too_many_threads,
      gains_nothing && evidence.cpu_stall >= kManyStalls && evidence.other_cores < kNoticedCores, surplus);
  if (evidence.other_cores < kNoticedCores) add_core_waits(recording, found);
  const double gain = has_unequal_lengths(recording) ? replayed_rate(longest_first(recording)) / rate - 1 : 0;
  add(Cause::unequal_lengths, gain >= kNoticedUnequal, gain / (1 + gain), gain);
  return found;
}

RunFinding finding_of(const RunRecording& recording, const std::optional<Diagnosis>& found,
                      const std::vector<SideCause>& causes) {
  if (!found) {
    const auto cost = [&](const SideCause& cause) { return cost_of(recording, cause); };
    const SideCause* worst = most_of(causes, cost);
    if (worst && cost(*worst) >= kPlainly) return {.cause = worst->cause, .beside = *worst};
    return {};
  }
  RunFinding finding{.cause = cause_of(found->limit), .advice = advice_of(recording, *found)};
  const double gain = finding.advice ? gain_of(*finding.advice, *found) : 0;
  const double at_best = found->limit.share / std::max(1e-9, 1 - found->limit.share);  // twice as fast
  const auto others = std::ranges::find(causes, Cause::other_processes, &SideCause::cause);
  if (others != causes.end() && others->gain >= std::max(kLeastOthers, kAboutAsMuch * std::min(gain, at_best)))
    return {.cause = others->cause, .beside = *others};
  const SideCause* most = most_of(causes, [](const SideCause& cause) { return cause.gain; });
  if (most && most->gain > std::max(gain, kLeastGain)) return {.cause = most->cause, .beside = *most};
  return finding;
}

}  // namespace tutti
