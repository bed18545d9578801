#include "feed/stages/streamed_batches.h"

#include <algorithm>
#include <utility>

#include "feed/batch_rules.h"

namespace tutti {

StreamedBatches::StreamedBatches(const FeedOptions& options, const Dataset& set, std::unique_ptr<FeatureCache> cache,
                                 BadSamples& bad, std::string prefix)
    : options_(options),
      set_(set),
      cache_(std::move(cache)),
      board_(PlanState{planner_for(options)}),
      stages_(options, set, cache_.get()),
      plan_(options, board_, buffers_, bad),
      batch_(std::move(prefix), options, board_, buffers_, bad) {}

Result<void> StreamedBatches::restore(std::string_view position) {
  return board_.with([&](PlanState& state) {
    auto restored = state.planner.restore(position);
    batch_.expect_whole_from(state.planner.epoch() + 1);
    return restored;
  });
}

void StreamedBatches::close() {
  board_.change([](PlanState& state) { state.is_stopped = true; });
}

/// The plan stage waits inside its own function for batches to be done: that is no work of its.
void StreamedBatches::correct(PipelineReport& report) const {
  const auto waited = board_.with([&](const PlanState& state) { return state.waited_until(options_.clock->now()); });
  for (StageReport& stage : report.stages)
    if (stage.name == "plan") {
      stage.times.busy -= std::min(waited, stage.times.busy);
      stage.times.blocked += waited;
    }
}

Reader<RowPtr> StreamedBatches::step(Pipeline& pipeline, const char* name, Reader<RowPtr>&& in, int threads, Work work,
                                     Concerns concerns) {
  const auto fn = [this, name, work, concerns](RowPtr&& row) -> Result<RowPtr> {
    if (((*row).*concerns)()) row->made_by.measure(name, *options_.clock, [&] { work(stages_, *row); });
    if (const Error* lacks = row->shortage()) return fail_in(row->line.id, *lacks);
    return std::move(row);
  };
  return pipeline.map(name, std::move(in), fn, {.threads = threads, .output = {.items = 32}});
}

Probed StreamedBatches::probe(Probed&& sample) const {
  StageWork made_by = std::move(sample.made_by);
  Probed probed = made_by.measure("probe", *options_.clock, [&] { return stages_.probe(std::move(sample)); });
  probed.made_by = std::move(made_by);
  return probed;
}

Reader<RowPtr> StreamedBatches::planned_rows(Pipeline& pipeline) {
  const auto [epoch, cursor] =
      board_.with([](const PlanState& state) { return std::pair(state.planner.epoch(), state.planner.cursor()); });
  order_.emplace(options_, set_.size(), epoch, cursor);
  auto ordered = pipeline.source("order", [this]() -> std::optional<Result<Probed>> {
    StageWork made_by;
    auto next = made_by.measure("order", *options_.clock, [this] { return order_->next(); });
    if (!next) return std::nullopt;
    next->made_by = std::move(made_by);
    return std::optional<Result<Probed>>(std::move(*next));
  });
  const int probing = options_.threads.probe;
  auto probed = pipeline.map("probe", std::move(ordered),
                             [this](Probed&& sample) -> Result<Probed> { return probe(std::move(sample)); },
                             {.threads = probing, .order = probing > 1 ? Order::input : Order::completion});
  return pipeline.flat_map<RowPtr>(
      "plan", std::move(probed),
      [this](Probed&& sample, const Emit<RowPtr>& emit) { return plan_.take(std::move(sample), emit); },
      {.output = {.items = 32}});
}

Reader<Batch> StreamedBatches::add_stages(Pipeline& pipeline) {
  const FeedThreads& threads = options_.threads;
  auto rows = planned_rows(pipeline);
  rows =
      step(pipeline, "read", std::move(rows), threads.read, [](SampleStages& it, PendingSample& row) { it.read(row); });
  // These two are passed by where the features were in the cache.
  rows = step(
      pipeline, "decode", std::move(rows), threads.decode, [](SampleStages& it, PendingSample& row) { it.decode(row); },
      &PendingSample::needs_audio);
  rows = step(
      pipeline, "resample", std::move(rows), threads.resample,
      [](SampleStages& it, PendingSample& row) { it.resample(row); }, &PendingSample::needs_audio);
  if (options_.as_audio) {
    rows = step(pipeline, "hand over", std::move(rows), 1,
                [](SampleStages& it, PendingSample& row) { it.hand_over(row); });
  } else {
    if (options_.augmentation.touches_audio())
      rows = step(pipeline, "augment", std::move(rows), threads.augment,
                  [](SampleStages& it, PendingSample& row) { it.augment(row); });
    rows = step(pipeline, "features", std::move(rows), threads.features,
                [](SampleStages& it, PendingSample& row) { it.features(row); });
  }
  return pipeline.flat_map<Batch>(
      "batch", std::move(rows),
      [this](RowPtr&& row, const Emit<Batch>& emit) { return batch_.take(std::move(row), emit); },
      {.output = {.items = static_cast<std::size_t>(options_.ready)}});
}

}  // namespace tutti
