#include "advise/live_tuner.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "advise/replay.h"
#include "advise/tuning.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

constexpr std::size_t kFirstItems = 24, kItems = 40, kFewestItems = 8;  // of a measurement
constexpr std::size_t kWatchedItems = 100;                              // of the rate that is watched
constexpr std::size_t kMostTrials = 3;                                  // a solution and two corrections of it
constexpr Seconds kShortest{0.25};     // of a measurement: shorter ones are about the clock and the start of threads
constexpr Seconds kPatience{2.5};      // for a measurement with fewer items
constexpr double kDrift = 0.15;        // share of the rate
constexpr double kUnexplained = 0.25;  // share of the rate: a pipeline that is so much slower waits for something else
constexpr double kProof = 0.05;        // share of the rate by which a guess must be better to be kept
constexpr double kWorse = 0.03;        // share of the rate by which a setting must be better to be taken again
constexpr std::size_t kTimes = 256;    // items that a model has
constexpr std::size_t kMostQueued = 64;

/// Times that are spread as the measured ones, in random order, with their mean.
std::shared_ptr<const std::vector<ItemTime>> times_like(const HistogramSnapshot& measured, double scale,
                                                        std::uint64_t key) {
  auto times = std::make_shared<std::vector<ItemTime>>();
  if (measured.count == 0) {
    times->push_back({});
    return times;
  }
  double sum = 0;
  for (std::size_t i = 0; i < kTimes; ++i) {
    const double time = measured.percentile((static_cast<double>(i) + 0.5) / kTimes);
    times->push_back({.work = Seconds(time)});
    sum += time;
  }
  const double exact = sum > 0 ? scale * measured.mean() * kTimes / sum : 0;
  CounterRandom random({key});
  for (std::size_t i = kTimes; i-- > 0;) {
    (*times)[i].work *= exact;
    if (i > 0) std::swap((*times)[i], (*times)[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  return times;
}

/// Standard deviation of the sum of all of them.
Seconds deviation_of(const HistogramSnapshot& times) {
  const double mean = times.mean();
  double squares = 0;
  for (const auto& [bound, count] : times.buckets)
    squares += static_cast<double>(count) * (bound - mean) * (bound - mean);
  return Seconds(std::sqrt(squares));
}

}  // namespace

LiveTuner::Reading LiveTuner::reading_of(Seconds at, const PipelineReport& report) const {
  Reading reading{.at = at};
  for (const LiveStage& stage : options_.stages) {
    const auto found = std::ranges::find(report.stages, stage.name, &StageReport::name);
    const bool is_there = found != report.stages.end();
    reading.service.push_back(is_there ? found->service : HistogramSnapshot{});
    reading.threads.push_back(is_there ? std::max(1, found->threads.all()) : 1);
    reading.queues.push_back(is_there ? std::clamp<std::size_t>(found->output.limits.items, 1, kMostQueued) : 1);
  }
  return reading;
}

PipelineModel LiveTuner::model_of(const Reading& from, const Reading& now, const LiveMachine& machine) const {
  PipelineModel pipeline{.cores = std::max(1, static_cast<int>(std::lround(machine.cores)))};
  const auto done = static_cast<double>(now.done() - from.done());
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    const HistogramSnapshot service = now.service[s].since(from.service[s]);
    // A stage may pass an item in several pieces: it costs as much as they do together.
    const double pieces = done > 0 ? static_cast<double>(service.count) / done : 1;
    const double scale = pieces > 1.5 || pieces < 0.5 ? pieces : 1;
    pipeline.stages.push_back({.name = options_.stages[s].name,
                               .resource = options_.stages[s].resource,
                               .threads = now.threads[s],
                               .queue = now.queues[s],
                               .times = times_like(service, scale, digest(options_.stages[s].name)),
                               .on_core = std::clamp(machine.on_core, 0.01, 1.0)});
  }
  return pipeline;
}

ThreadSettings LiveTuner::settings_of(const std::vector<int>& threads) const {
  ThreadSettings settings;
  for (std::size_t s = 0; s < options_.stages.size(); ++s)
    if (options_.stages[s].is_open) settings.emplace_back(options_.stages[s].name, threads[s]);
  return settings;
}

std::optional<ThreadSettings> LiveTuner::solved(const Reading& now, const LiveMachine& machine) const {
  const PipelineModel pipeline = model_of(*begun_, now, machine);
  ThreadBudget budget;
  int fixed = 0, open = 0;
  double queued = 0;
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    budget.open.push_back(options_.stages[s].is_open);
    budget.least.push_back(options_.stages[s].least);
    budget.most.push_back(options_.stages[s].most);
    (options_.stages[s].is_open ? open : fixed) += now.threads[s];
    if (s + 1 < options_.stages.size()) queued += static_cast<double>(now.queues[s]);
  }
  const double items = std::max(1.0, machine.growth) * (fixed + open + queued);
  const double within_memory = std::min(items - queued - fixed, static_cast<double>(options_.most_threads));
  budget.threads = fixed + std::max(open, static_cast<int>(within_memory));
  const PipelineModel best = tuned_threads(pipeline, budget);
  const ReplaySpan span{.items = 1024};
  const double usual = replay(pipeline, span).rate();
  const Trial& last = trials_.back();
  const bool is_explained = last.rate > (1 - std::max(kUnexplained, 3 * last.error)) * usual;
  if (!is_explained) return std::nullopt;
  if (replay(best, span).rate() < (1 + budget.least_gain) * usual) return ThreadSettings{};
  std::vector<int> threads;
  for (const StageModel& stage : best.stages) threads.push_back(stage.threads);
  return settings_of(threads);
}

bool LiveTuner::has_measured(const Reading& now, std::size_t items) const {
  if (now.done() < window_->done()) return false;
  const std::size_t done = now.done() - window_->done();
  const Seconds passed = now.at - window_->at;
  return (done >= items && passed >= kShortest) || (done >= kFewestItems && passed >= kPatience);
}

LiveTuner::Trial LiveTuner::measured(const Reading& now) const {
  const auto items = static_cast<double>(now.done() - window_->done());
  const Seconds passed = now.at - window_->at;
  Seconds deviation{};  // uneven items of a stage that hardly works leave the rate as it is
  for (std::size_t s = 0; s < now.service.size(); ++s)
    deviation = std::max(deviation, deviation_of(now.service[s].since(window_->service[s])) / now.threads[s]);
  return {result_.now, items / passed.count(), deviation / passed};
}

void LiveTuner::begin(const Reading& now) {
  begun_ = window_ = now;
  window_from_ = now.done();
  trials_.clear();
  is_guessing_ = false;
  usual_rate_ = 0;
  has_drifted_ = false;
  ++result_.rounds;
  result_.is_settled = false;
}

ThreadSettings LiveTuner::change_to(ThreadSettings settings, const Reading& now) {
  result_.now = settings;
  window_ = now;
  // What is in threads and queues now was begun with the threads of before.
  std::size_t under_way = 0;
  for (std::size_t s = 0; s < now.threads.size(); ++s)
    under_way += static_cast<std::size_t>(now.threads[s]) + (s + 1 < now.threads.size() ? now.queues[s] : 0);
  window_from_ = now.done() + std::min<std::size_t>(under_way, 12);
  return settings;
}

const LiveTuner::Trial& LiveTuner::chosen_trial() const {
  const auto noise_of = [](const Trial& a, const Trial& b) { return 2 * std::hypot(a.error, b.error); };
  const Trial& last = trials_.back();
  const auto best = std::ranges::max_element(trials_, {}, [&](const Trial& it) { return it.is_guess ? 0 : it.rate; });
  if (last.is_guess) return last.rate > (1 + std::max(kProof, noise_of(last, *best))) * best->rate ? last : *best;
  return last.rate < (1 - std::max(kWorse, noise_of(last, *best))) * best->rate ? *best : last;
}

ThreadSettings LiveTuner::settle(const Reading& now) {
  const Trial chosen = chosen_trial();
  result_.is_settled = true;
  result_.rate_now = chosen.rate;
  window_ = now;
  window_from_ = now.done();
  if (chosen.threads == result_.now) return {};
  return change_to(chosen.threads, now);
}

ThreadSettings LiveTuner::measure(const Reading& now, const std::function<LiveMachine()>& machine) {
  if (!has_measured(now, trials_.empty() ? kFirstItems : kItems)) return {};
  trials_.push_back(measured(now));
  trials_.back().is_guess = is_guessing_;
  if (result_.rounds == 1 && result_.now == result_.before) result_.rate_before = trials_.back().rate;
  if (trials_.size() > kMostTrials || is_guessing_) return settle(now);
  LiveMachine known = machine();
  auto next = solved(now, known);
  if (next && next->empty() && known.least_on_core < known.on_core) {
    known.on_core = known.least_on_core;
    next = solved(now, known);
    is_guessing_ = next && !next->empty();
  }
  if (!next && trials_.size() == 1) {  // something may have held up the run's start
    begun_ = window_ = now;
    window_from_ = now.done();
    return {};
  }
  if (!next || next->empty() || *next == result_.now) return settle(now);
  return change_to(std::move(*next), now);
}

ThreadSettings LiveTuner::watch(const Reading& now, const std::function<LiveMachine()>& machine) {
  if (!has_measured(now, kWatchedItems)) return {};
  const Trial seen = measured(now);
  const Reading from = *window_;
  window_ = now;
  if (usual_rate_ <= 0) {
    usual_rate_ = result_.rate_now = seen.rate;
    return {};
  }
  // Two rates of so few items differ by as much though nothing has changed.
  const bool drifts = std::abs(seen.rate / usual_rate_ - 1) > std::max(kDrift, 3 * std::sqrt(2.0) * seen.error);
  if (!std::exchange(has_drifted_, drifts) || !drifts) return {};
  begin(now);
  begun_ = window_ = from;  // what was measured since the rate is another one is the first measurement
  return measure(now, machine);
}

ThreadSettings LiveTuner::look(Seconds at, const PipelineReport& report, const std::function<LiveMachine()>& machine) {
  const Reading now = reading_of(at, report);
  if (!begun_) {
    if (now.done() == 0) return {};  // until then the pipeline fills
    result_.before = result_.now = settings_of(now.threads);
    begin(now);
    return {};
  }
  if (now.done() < window_from_ && now.at - window_->at < kPatience) return {};
  if (window_from_ > window_->done()) {
    window_ = now;
    window_from_ = now.done();
    return {};
  }
  return result_.is_settled ? watch(now, machine) : measure(now, machine);
}

}  // namespace tutti
