#include "advise/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "advise/replay.h"

namespace tutti {
namespace {

constexpr double kMostTried = 64;      // threads of a stage, where a pipeline has not more already
constexpr double kEnoughOfGain = 0.9;  // a smaller number that gains so much of what a large one does is preferred
constexpr double kClose = 0.75;        // part of the limiting stage's share from which a second stage is close
constexpr double kSame = 0.002;        // rates that differ less are the same
constexpr std::size_t kTrialItems = 12000;
constexpr std::size_t kMostSimulated = 60000;

/// Replays one pipeline with different changes.
class Trials {
 public:
  Trials(PipelineModel pipeline, const RateModel& model)
      : pipeline_(std::move(pipeline)), model_(model), played_(model.play(pipeline_)), rate_(model.rate(played_)) {}

  const PipelineModel& pipeline() const { return pipeline_; }
  const RateModel& model() const { return model_; }
  const ReplayResult& as_is() const { return played_; }
  double rate() const { return rate_; }
  double rate_with(const std::vector<Change>& changes) const { return model_.rate(model_.play(with(changes))); }
  double gain_of(const std::vector<Change>& changes) const { return rate_with(changes) / rate_ - 1; }
  Fix predict(std::vector<Change> changes) const {
    Fix fix = model_.predict(with(changes));
    fix.changes = std::move(changes);
    return fix;
  }

 private:
  PipelineModel with(const std::vector<Change>& changes) const {
    PipelineModel pipeline = pipeline_;
    for (const Change& change : changes) pipeline = changed(std::move(pipeline), change);
    return pipeline;
  }

  PipelineModel pipeline_;
  const RateModel& model_;
  ReplayResult played_;
  double rate_;
};

/// The smallest value above `now` with which the setting gains nearly what it can gain up to `most`.
std::optional<Change> worthwhile(const Trials& trials, Change change, double now, double most) {
  const auto gain = [&](double value) {
    change.value = value;
    return trials.gain_of({change});
  };
  double enough = most, best = gain(most);
  if (const double next = gain(now + 1); next >= best) best = next, enough = now + 1;
  if (best < kLeastGain) return std::nullopt;
  const double wanted = std::max(kLeastGain, kEnoughOfGain * best);
  double little = now;
  while (enough - little > 1) {
    // Near the present value first: what is needed is seldom far from it.
    const double middle = std::min(std::trunc((little + enough) / 2), little + std::max(1.0, std::trunc(little / 2)));
    (gain(middle) >= wanted ? enough : little) = middle;
  }
  change.value = enough;
  return change;
}

/// Whether, of the stages that share one thread setting, it is the one that works most: a change is named after it.
bool is_named_after(const PipelineModel& pipeline, std::size_t stage) {
  const auto& stages = pipeline.stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (s == stage || !is_set_with(stages[s], stages[stage])) continue;
    const Seconds other = mean_service(stages[s]), own = mean_service(stages[stage]);
    if (other > own || (other == own && s < stage)) return false;
  }
  return true;
}

/// The best value of every setting that gains: threads, queues, cores.
std::vector<Change> worthwhile_changes(const Trials& trials) {
  const PipelineModel& pipeline = trials.pipeline();
  std::vector<Change> found;
  const auto consider = [&](Change change, double now, double most) {
    if (!trials.model().may_set(change)) return;
    if (auto change_found = worthwhile(trials, std::move(change), now, most)) found.push_back(*change_found);
  };
  bool has_cpu = false;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const StageModel& stage = pipeline.stages[s];
    has_cpu |= stage.resource == StageResource::cpu;
    const double threads = stage.threads, queue = static_cast<double>(stage.queue);
    if (threads < kMostThreads && is_named_after(pipeline, s))
      consider({.stage = stage.name, .key = "threads"}, threads,
               std::min(kMostThreads, std::max(kMostTried, 2 * threads)));
    if (s + 1 < pipeline.stages.size() && queue < kMostQueue)
      consider({.stage = stage.name, .key = "queue"}, queue, std::min(kMostQueue, std::max(8 * queue, queue + 64)));
  }
  if (has_cpu && pipeline.cores < kMostThreads)
    consider({.key = "cores"}, pipeline.cores, std::min(kMostThreads, std::max(kMostTried, 2.0 * pipeline.cores)));
  return found;
}

void by_gain(std::vector<Fix>& fixes) {
  std::ranges::stable_sort(fixes, std::greater<>(), &Fix::items_per_s);
}

struct SpeedUp {
  std::size_t stage = 0;
  double rate = 0;
};

/// The stages by what they gain when twice as fast; of two that gain the same, the busier first.
std::vector<SpeedUp> speed_ups(const Trials& trials) {
  const auto& stages = trials.pipeline().stages;
  std::vector<SpeedUp> all;
  for (std::size_t s = 0; s < stages.size(); ++s) all.push_back({s, trials.rate_with({twice_as_fast(stages[s])})});
  std::ranges::stable_sort(all, std::greater<>(), &SpeedUp::rate);
  const double best = all.front().rate;
  const auto rest = std::ranges::find_if(all, [&](const SpeedUp& s) { return s.rate < best * (1 - kSame); });
  std::ranges::stable_sort(all.begin(), rest, std::greater<>(),
                           [&](const SpeedUp& s) { return trials.as_is().stages[s.stage].busy; });
  return all;
}

Bottleneck limit_of(const Trials& trials, const std::vector<SpeedUp>& speeds) {
  const auto share = [&](const SpeedUp& speed) { return std::max(0.0, 1 - trials.rate() / speed.rate); };
  const StageModel& stage = trials.pipeline().stages[speeds[0].stage];
  Bottleneck limit{stage.name, stage.resource, share(speeds[0])};
  if (speeds.size() > 1 && share(speeds[1]) >= kClose * share(speeds[0]))
    limit.close = trials.pipeline().stages[speeds[1].stage].name;
  return limit;
}

/// The best second change beside `first`, where one gains beyond it.
std::optional<std::vector<Change>> best_pair(const Trials& trials, const Change& first) {
  const Trials changed_once(changed(trials.pipeline(), first), trials.model());
  std::optional<Change> best;
  double best_rate = 0;
  for (const Change& second : worthwhile_changes(changed_once)) {
    if (second.stage == first.stage && second.key == first.key) continue;
    const double rate = changed_once.rate_with({second});
    if (rate > best_rate) best_rate = rate, best = second;
  }
  if (!best) return std::nullopt;
  return std::vector{first, *best};
}

/// Two stages that limit one another: neither gains alone.
std::optional<std::vector<Change>> balanced_pair(const Trials& trials, const std::vector<SpeedUp>& speeds) {
  const auto& stages = trials.pipeline().stages;
  std::vector<std::size_t> busiest;
  for (const SpeedUp& speed : speeds) busiest.push_back(speed.stage);
  std::ranges::stable_sort(busiest, std::greater<>(), [&](std::size_t s) { return trials.as_is().stages[s].busy; });
  if (busiest.size() < 2) return std::nullopt;
  const StageModel &a = stages[busiest[0]], &b = stages[busiest[1]];
  std::vector<std::vector<Change>> candidates{{twice_as_fast(a), twice_as_fast(b)}};
  if (!is_set_with(a, b))
    candidates.insert(candidates.begin(), {{a.name, "threads", a.threads + 1.0}, {b.name, "threads", b.threads + 1.0}});
  for (const auto& pair : candidates)
    if (std::ranges::all_of(pair, trials.model().may_set) && trials.gain_of(pair) >= kLeastGain) return pair;
  return std::nullopt;
}

}  // namespace

Diagnosis diagnose(const PipelineModel& pipeline, const RateModel& model) {
  const Trials trials(pipeline, model);
  Diagnosis diagnosis;
  diagnosis.items_per_s = trials.predict({}).items_per_s;
  const auto speeds = speed_ups(trials);
  diagnosis.limit = limit_of(trials, speeds);

  const auto worth = [&](const Fix& fix) { return fix.items_per_s >= (1 + kLeastGain) * diagnosis.items_per_s; };
  for (const Change& change : worthwhile_changes(trials))
    if (Fix fix = trials.predict({change}); worth(fix)) diagnosis.fixes.push_back(std::move(fix));
  by_gain(diagnosis.fixes);

  std::vector<Fix> faster;
  for (const SpeedUp& speed : speeds)
    if (Fix fix = trials.predict({twice_as_fast(pipeline.stages[speed.stage])}); worth(fix))
      faster.push_back(std::move(fix));
  by_gain(faster);

  // What one of the two gains alone needs no second one.
  const bool are_balanced = diagnosis.fixes.empty();
  const auto pair = are_balanced ? balanced_pair(trials, speeds) : best_pair(trials, diagnosis.fixes[0].changes[0]);
  if (pair) {
    Fix fix = trials.predict(*pair);
    const double alone = are_balanced && !faster.empty() ? faster[0].items_per_s : diagnosis.items_per_s;
    if (fix.items_per_s >= (1 + kLeastGain) * alone) diagnosis.together.push_back(std::move(fix));
  }
  std::ranges::move(faster, std::back_inserter(diagnosis.fixes));
  return diagnosis;
}

/// Low and high are how far the rates of the short runs that a long one consists of are from its own.
Fix predict(const PipelineModel& pipeline, Seconds run) {
  const double about = replay(pipeline).rate();
  const auto wanted = static_cast<std::size_t>(std::max(24000.0, 12 * about * run.count()));
  const auto played = replay(pipeline, {.items = std::min(wanted, kMostSimulated)});
  const double rate = played.rate();
  const Seconds all = played.done_at.back();
  double squares = 0;
  int runs = 0;
  for (Seconds from = 0.1 * all; from + run <= all; from += run, ++runs) {
    const double deviation = rate_between(played.done_at, from, from + run) - rate;
    squares += deviation * deviation;
  }
  // Too few short runs in it: as if each item's luck were its own.
  const double items = std::max(1.0, rate * run.count());
  const double deviation = runs > 3 ? std::sqrt(squares / runs) : rate / std::sqrt(items);
  // Two deviations, and what a real machine adds.
  const double margin = 2 * deviation + 0.02 * rate;
  return {{}, rate, std::max(0.0, rate - margin), rate + margin};
}

Diagnosis diagnose(const PipelineModel& pipeline, Seconds run) {
  return diagnose(pipeline, {.play = [](const PipelineModel& it) { return replay(it, {.items = kTrialItems}); },
                             .rate = [](const ReplayResult& played) { return played.rate(); },
                             .predict = [run](const PipelineModel& it) { return tutti::predict(it, run); },
                             .may_set = [](const Change&) { return true; }});
}

}  // namespace tutti
