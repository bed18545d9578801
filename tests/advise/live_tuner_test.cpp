#include "advise/live_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "advise/replay.h"
#include "base/random/counter_random.h"
#include "metrics/histogram.h"
#include "support/planted_stages.h"

namespace tutti {
namespace {

using enum StageResource;

constexpr Seconds kLook{0.1};

/// A pipeline that runs in a time of its own: a replay with the threads of the moment, from its next item on.
class PlayedRun {
 public:
  explicit PlayedRun(PipelineModel pipeline) : pipeline_(std::move(pipeline)) {
    for (std::size_t s = 0; s < pipeline_.stages.size(); ++s) service_.push_back(std::make_unique<Histogram>());
    play();
  }

  /// The pipeline goes on for a moment, and `tuner` looks at it.
  void go_on(LiveTuner& tuner) {
    now_ += kLook;
    const auto until = std::ranges::upper_bound(done_at_, now_ - from_);
    for (const auto passed = static_cast<std::size_t>(until - done_at_.begin()); since_ < passed; ++since_, ++done_)
      for (std::size_t s = 0; s < service_.size(); ++s)
        service_[s]->record(pipeline_.stages[s].service(first_ + since_).count());
    set(tuner.look(now_, report(), [this] {
      return LiveMachine{.cores = static_cast<double>(pipeline_.cores),
                         .least_on_core = least_on_core,
                         .growth = most_items / items_in_work()};
    }));
  }
  void set(const ThreadSettings& settings) {
    for (const auto& [stage, threads] : settings) pipeline_.stages[stage_index(pipeline_, stage)].threads = threads;
    if (!settings.empty()) play();
  }
  /// Nothing goes on for so long.
  void hold_up(Seconds time) { now_ += time, from_ += time; }
  /// From now on the items of a stage take `times` as long.
  void slow_down(std::size_t stage, double times) {
    pipeline_.stages[stage].speed /= times;
    play();
  }

  const PipelineModel& pipeline() const { return pipeline_; }
  std::size_t done() const { return done_; }
  Seconds now() const { return now_; }

  double most_items = 1e9;   // that memory has space for
  double least_on_core = 1;  // what is known of it at least, where all else is not

 private:
  double items_in_work() const {
    double items = 0;
    for (std::size_t s = 0; s < pipeline_.stages.size(); ++s)
      items += pipeline_.stages[s].threads +
               (s + 1 < pipeline_.stages.size() ? static_cast<double>(pipeline_.stages[s].queue) : 0);
    return items;
  }
  void play() {
    first_ = done_;
    since_ = 0;
    from_ = now_;
    done_at_ = replay(pipeline_, {.items = 6000, .first_item = first_}).done_at;
  }
  PipelineReport report() const {
    PipelineReport report;
    for (std::size_t s = 0; s < service_.size(); ++s) {
      const StageModel& stage = pipeline_.stages[s];
      StageReport one{};
      one.name = stage.name;
      one.threads.busy = stage.threads;
      one.service = service_[s]->snapshot();
      one.output.limits.items = stage.queue;
      report.stages.push_back(std::move(one));
    }
    return report;
  }

  PipelineModel pipeline_;
  std::vector<std::unique_ptr<Histogram>> service_{};
  std::vector<Seconds> done_at_{};  // since from_
  std::size_t first_ = 0, since_ = 0, done_ = 0;
  Seconds from_{}, now_{};
};

LiveTuner tuner_of(const PipelineModel& pipeline, int most_threads) {
  LiveTuner::Options options{.most_threads = most_threads};
  for (const StageModel& stage : pipeline.stages)
    options.stages.push_back({stage.name, stage.resource, stage.resource != device});
  return LiveTuner(std::move(options));
}

/// Three stages of random kinds and times, of 2 to 40 ms, with one thread each.
PipelineModel random_pipeline(std::uint64_t seed) {
  CounterRandom random({seed, digest("live")});
  PipelineModel pipeline{static_cast<int>(2 + random.below(6)), {}};
  for (const auto* name : {"a", "b", "c"}) {
    const auto resource = static_cast<StageResource>(random.below(3));
    TimesDescription times{.mean = Seconds(random.uniform(0.002, 0.04)), .variation = random.uniform(0, 1)};
    if (random.chance(0.25)) times.stall_share = 0.03, times.stall = Seconds(0.1);
    pipeline.stages.push_back(drawn_stage(name, resource, 1, times, 2 + static_cast<std::size_t>(random.below(6))));
  }
  return pipeline;
}

double rate_of(const PipelineModel& pipeline, std::size_t items = 4096) {
  return replay(pipeline, {.items = items}).rate();
}

/// The best of all threads of the open stages within the budget.
double best_rate(PipelineModel pipeline, int budget) {
  double best = 0;
  const auto most = [&](std::size_t s) { return pipeline.stages[s].resource == device ? 1 : budget; };
  for (int a = 1; a <= most(0); ++a)
    for (int b = 1; b <= most(1); ++b)
      for (int c = 1; c <= most(2); ++c) {
        int open = 0;
        for (std::size_t s = 0; s < 3; ++s)
          if (pipeline.stages[s].resource != device) open += s == 0 ? a : s == 1 ? b : c;
        if (open > budget) continue;
        pipeline.stages[0].threads = a, pipeline.stages[1].threads = b, pipeline.stages[2].threads = c;
        best = std::max(best, rate_of(pipeline, 1536));
      }
  return best;
}

TEST(LiveTuner, ComesNearTheBestOfAllSettingsWithin200Items) {
  constexpr int kThreads = 9;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    PlayedRun run(random_pipeline(seed));
    LiveTuner tuner = tuner_of(run.pipeline(), kThreads);
    while (!tuner.result().is_settled && run.now() < Seconds(60)) run.go_on(tuner);
    EXPECT_TRUE(run.done() <= 200 || run.now() <= Seconds(10)) << run.done() << " items, seed " << seed;
    const double best = best_rate(run.pipeline(), kThreads);
    EXPECT_GE(rate_of(run.pipeline()), 0.95 * best) << "seed " << seed;
  }
}

PipelineModel two_stages() {
  return {4, {even_stage("read", io, 1, 40, 4), even_stage("work", cpu, 1, 20, 4)}};
}

TEST(LiveTuner, BeginsAgainWhereTheRateHasDrifted) {
  PlayedRun run(two_stages());
  LiveTuner tuner = tuner_of(run.pipeline(), 40);
  while (run.now() < Seconds(20)) run.go_on(tuner);
  EXPECT_EQ(tuner.result().rounds, 1);
  const int before = run.pipeline().stages[0].threads;
  run.slow_down(0, 2);
  while (run.now() < Seconds(60)) run.go_on(tuner);
  EXPECT_GE(tuner.result().rounds, 2);
  EXPECT_TRUE(tuner.result().is_settled);
  EXPECT_GE(run.pipeline().stages[0].threads, 2 * before - 1);
}

TEST(LiveTuner, StaysWithinItsMemory) {
  PlayedRun run(two_stages());
  run.most_items = 9;  // five threads and a queue of four
  LiveTuner tuner = tuner_of(run.pipeline(), 16);
  while (run.now() < Seconds(20)) run.go_on(tuner);
  EXPECT_EQ(run.pipeline().stages[0].threads + run.pipeline().stages[1].threads, 5);
}

TEST(LiveTuner, ThreadsThatSufficeStayAsTheyAre) {
  PlayedRun run(two_stages());
  run.set({{"read", 8}, {"work", 4}});
  LiveTuner tuner = tuner_of(run.pipeline(), 40);
  while (run.now() < Seconds(30)) run.go_on(tuner);
  EXPECT_FALSE(tuner.result().has_changed());
  EXPECT_TRUE(tuner.result().is_settled);
}

TEST(LiveTuner, PipelineThatWaitsForItsReaderIsLeftAlone) {
  PipelineModel pipeline = two_stages();
  pipeline.stages.push_back(even_stage("reader", device, 1, 100));
  PlayedRun run(pipeline);
  LiveTuner tuner({.stages = {{"read", io, true}, {"work", cpu, true}}});
  while (run.now() < Seconds(30)) run.go_on(tuner);
  EXPECT_FALSE(tuner.result().has_changed()) << "more threads would take cores and gain nothing";
}

/// Two threads that compute for all that is known, on two cores; in truth items hold one for `on_core` of their time.
PipelineModel two_threads_on_two_cores(double on_core) {
  PipelineModel pipeline{2, {even_stage("decode", cpu, 2, 40, 4), even_stage("write", io, 1, 1, 4)}};
  pipeline.stages[0].on_core = on_core;
  return pipeline;
}

TEST(LiveTuner, GuessThatItemsWaitForNoCoreIsKeptWhereItPays) {
  PlayedRun run(two_threads_on_two_cores(0.1));
  run.least_on_core = 0.1;
  LiveTuner tuner = tuner_of(run.pipeline(), 16);
  while (!tuner.result().is_settled && run.now() < Seconds(30)) run.go_on(tuner);
  EXPECT_GE(run.pipeline().stages[0].threads, 6);
  EXPECT_GT(tuner.result().rate_now, 2 * tuner.result().rate_before);
}

TEST(LiveTuner, GuessThatDoesNotPayIsTakenBack) {
  PlayedRun run(two_threads_on_two_cores(1));
  run.least_on_core = 0.1;
  LiveTuner tuner = tuner_of(run.pipeline(), 16);
  while (!tuner.result().is_settled && run.now() < Seconds(30)) run.go_on(tuner);
  EXPECT_TRUE(tuner.result().is_settled);
  EXPECT_EQ(run.pipeline().stages[0].threads, 2);
  EXPECT_FALSE(tuner.result().has_changed());
}

TEST(LiveTuner, RunThatWasHeldUpAtItsStartIsMeasuredAgain) {
  PlayedRun run(two_stages());
  LiveTuner tuner = tuner_of(run.pipeline(), 40);
  while (run.done() < 4) run.go_on(tuner);
  run.hold_up(Seconds(2));
  while (run.now() < Seconds(10)) run.go_on(tuner);
  EXPECT_GE(run.pipeline().stages[0].threads, 6);
  EXPECT_NEAR(tuner.result().rate_before, 25, 3) << "as fast as without that";
}

TEST(LiveTuner, RareSlowItemsOfAStageThatHardlyWorksHideNoGain) {
  PipelineModel pipeline = two_threads_on_two_cores(0.1);
  const TimesDescription rarely_slow{.mean = Seconds(1e-4), .stall_share = 0.05, .stall = Seconds(0.02)};
  pipeline.stages.push_back(drawn_stage("end", io, 1, rarely_slow, 4));
  PlayedRun run(pipeline);
  run.least_on_core = 0.1;
  LiveTuner tuner = tuner_of(run.pipeline(), 6);
  while (!tuner.result().is_settled && run.now() < Seconds(30)) run.go_on(tuner);
  EXPECT_GT(tuner.result().rate_now, 1.8 * tuner.result().rate_before);
}

TEST(LiveTuner, ShortRunChangesNothing) {
  PlayedRun run(two_stages());
  LiveTuner tuner = tuner_of(run.pipeline(), 16);
  while (run.done() < 7) run.go_on(tuner);
  EXPECT_FALSE(tuner.result().has_changed());
  EXPECT_FALSE(tuner.result().is_settled);
}

}  // namespace
}  // namespace tutti
