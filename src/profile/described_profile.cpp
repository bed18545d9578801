#include "profile/described_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "advise/change.h"
#include "advise/tuning.h"
#include "base/environment.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "profile/emulated_pipeline.h"
#include "profile/pipeline_file.h"

namespace tutti {
namespace {

constexpr int kMostRuns = 2;  // a machine that was too busy for one gets another

/// For tests of ourselves: TUTTI_PROFILE_SLOWED=decode=1.5 makes a stage slower than described, behind the model's
/// back.
Result<std::map<std::size_t, double>> slowed_stages(const PipelineModel& pipeline) {
  const auto text = variable(own_variables::kProfileSlowed);
  if (!text) return std::map<std::size_t, double>{};
  const auto equals = text->rfind('=');
  const auto factor = number_in<double>(text->substr(equals == std::string::npos ? text->size() : equals + 1));
  const std::size_t stage = stage_index(pipeline, text->substr(0, equals));
  if (!factor || !(*factor > 0) || stage == pipeline.stages.size())
    return fail(Fault::usage,
                std::string(own_variables::kProfileSlowed) + ": expected STAGE=FACTOR, found '" + *text + "'");
  return std::map<std::size_t, double>{{stage, *factor}};
}

/// What a run came to, not yet what limits it.
Result<DescribedRun> run_once(const PipelineModel& pipeline, Seconds length) {
  const auto slowed = TRY(slowed_stages(pipeline));
  const auto run = TRY(run_emulated(pipeline, {.part = representative_part(pipeline, length), .slowed = slowed}));
  DescribedRun result{
      .pipeline = pipeline, .figures = figures_of(pipeline, run), .model_error = model_error(pipeline, run)};
  result.timeline = timeline_of(pipeline, run);
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s)
    if (result.figures.stages[s].items == 0)
      return fail(Fault::usage,
                  "stage '" + pipeline.stages[s].name + "': no item was finished in " + number_text(length.count()) +
                      " s, so nothing was measured",
                  "Give the run more 'seconds'");
  return result;
}

/// What may be tuned.
struct TunedSettings {
  TuningBudget budget{};
  bool has_last_queue = false;  // it counts, although nothing is behind it
};

Result<TunedSettings> settings_for(const DescribedBudget& allowed, const PipelineModel& pipeline) {
  const int stages = static_cast<int>(pipeline.stages.size());
  TuningBudget own{.threads = 0, .queue = 0};
  for (const StageModel& stage : pipeline.stages) own.threads += stage.threads, own.queue += stage.queue;
  const int threads = allowed.threads.value_or(own.threads);
  if (threads < stages)
    return fail(Fault::usage, field("threads_budget") + ": expected at least " + std::to_string(stages) +
                                  ", one for each stage, found " + std::to_string(threads));
  const int queue = allowed.queue.value_or(static_cast<int>(std::min(own.queue, static_cast<std::size_t>(kMostQueue))));
  if (queue < std::max(1, stages - 1))
    return fail(Fault::usage, field("queue_budget") + ": expected at least " + std::to_string(std::max(1, stages - 1)) +
                                  ", one for each queue, found " + std::to_string(queue));
  // Nothing waits behind the last stage: its queue gets the least, where the budget has it.
  const bool has_last = queue >= stages;
  return TunedSettings{{threads, static_cast<std::size_t>(std::max(1, has_last ? queue - 1 : queue))}, has_last};
}

/// The pipeline with each stage as slow as it was in the run; none where it was as slow as described.
std::optional<PipelineModel> corrected(const DescribedRun& run) {
  PipelineModel pipeline = run.pipeline;
  bool is_other = false;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const Seconds described = mean_service(pipeline.stages[s]), found = run.figures.stages[s].mean;
    if (described.count() <= 0 || std::abs(found / described - 1) < kMostModelError) continue;
    pipeline.stages[s].speed *= described / found;
    is_other = true;
  }
  return is_other ? std::optional(pipeline) : std::nullopt;
}

/// `settings` on the pipeline as it is described.
PipelineModel with_settings(PipelineModel pipeline, const PipelineModel& settings) {
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    pipeline.stages[s].threads = settings.stages[s].threads;
    pipeline.stages[s].queue = settings.stages[s].queue;
  }
  return pipeline;
}

/// Solves, runs, and where the stages were not as described solves and runs once more.
Result<DescribedRun> tuned_run(const PipelineModel& pipeline, Seconds length, const TuningBudget& budget,
                               bool simulate) {
  const PipelineModel first = tuned(pipeline, budget);
  if (simulate) return simulated_run(first, length);
  auto run = run_once(first, length);
  if (!run || run->model_error <= kMostModelError) return run;
  const auto correction = corrected(*run);
  if (!correction) return run;
  const PipelineModel second = with_settings(pipeline, tuned(*correction, budget));
  if (settings_of(second) == settings_of(first)) return run;
  auto again = run_once(second, length);
  return again && again->figures.items_per_s > run->figures.items_per_s ? again : run;
}

}  // namespace

Result<PipelineModel> with_changes(PipelineModel pipeline, const std::string& changes) {
  for (const std::string_view text : split(changes, ',')) {
    const auto change = parse_change(text, pipeline);
    if (!change) return fail_in(field("apply"), change.error());
    pipeline = changed(std::move(pipeline), *change);
  }
  return pipeline;
}

DescribedRun simulated_run(const PipelineModel& pipeline, Seconds length) {
  DescribedRun run{.pipeline = pipeline, .diagnosis = diagnose(pipeline, length)};
  const auto played = replay(pipeline);
  run.figures.items_per_s = run.diagnosis->items_per_s;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const StageModel& stage = pipeline.stages[s];
    std::vector<Seconds> times(stage.times->size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = stage.service(i);
    std::ranges::sort(times);
    const Seconds sum = std::accumulate(times.begin(), times.end(), Seconds(0));
    run.figures.stages.push_back({.shares = played.stages[s],
                                  .items = times.size(),
                                  .mean = sum / static_cast<double>(times.size()),
                                  .p95 = times[times.size() * 95 / 100]});
  }
  return run;
}

Result<DescribedRun> measured_run(const PipelineModel& pipeline, Seconds length) {
  auto best = run_once(pipeline, length);
  for (int runs = 1; runs < kMostRuns && best && best->model_error > kMostModelError; ++runs) {
    auto again = run_once(pipeline, length);
    if (again && again->model_error < best->model_error) best = std::move(again);
  }
  if (best && best->model_error <= kMostModelError) best->diagnosis = diagnose(pipeline, length);
  return best;
}

Result<Experiments> run_experiments(const DescribedRun& run, Seconds length) {
  Experiments all{.rate = run.figures.items_per_s};
  const auto slowed = TRY(slowed_stages(run.pipeline));
  for (std::size_t s = 0; s < run.pipeline.stages.size(); ++s) {
    const PipelineModel faster = changed(run.pipeline, twice_as_fast(run.pipeline.stages[s]));
    const auto part = representative_part(faster, length);
    const auto measured = TRY(run_emulated(run.pipeline, {.part = part, .sped_up = s, .slowed = slowed}));
    StageExperiment one{.stage = run.pipeline.stages[s].name,
                        .measured = figures_of(run.pipeline, measured).items_per_s};
    if (run.diagnosis) one.predicted = predict(faster, length);
    all.stages.push_back(std::move(one));
  }
  return all;
}

Result<std::string> tuned_settings_json(const PipelineModel& pipeline, Seconds length, const DescribedBudget& allowed,
                                        bool simulate) {
  const auto budget = TRY(settings_for(allowed, pipeline));
  const auto run = TRY(tuned_run(pipeline, length, budget.budget, simulate));
  std::vector<Change> settings = settings_of(run.pipeline);
  const StageModel& last = run.pipeline.stages.back();
  if (budget.has_last_queue) settings.push_back({last.name, "queue", static_cast<double>(last.queue)});
  nlohmann::ordered_json json{{"settings", nlohmann::ordered_json::array()}, {"items_per_s", run.figures.items_per_s}};
  for (const Change& change : settings) json["settings"].push_back(change.text());
  return json_line(json);
}

}  // namespace tutti
