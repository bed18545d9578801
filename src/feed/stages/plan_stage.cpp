#include "feed/stages/plan_stage.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "feed/batch_rules.h"

namespace tutti {
namespace {

RowPtr row_of(const std::shared_ptr<PendingBatch>& work, std::size_t at, const PlannedSample& planned) {
  auto row = std::make_unique<PendingSample>();
  row->work = work;
  row->at = at;
  row->planned = planned;
  if (planned.index < 0) row->state = UnfilledRow{};
  return row;
}

}  // namespace

Result<void> PlanStage::take(Probed probed, const Emit<RowPtr>& emit) {
  ahead_ += probed.made_by;
  switch (probed.kind) {
    case Probed::Kind::begin: return begin(emit);
    case Probed::Kind::sample:
      if (probed.bad && probed.bad->fault == Fault::exhausted)
        return fail_in(probed.id, *probed.bad);  // no fault of it
      bad_.note_seen(1);
      if (probed.bad) {
        if (auto noted = bad_.add(probed.id, probed.bad->text()); !noted) return noted;
      }
      board_.with([&](PlanState& state) { state.planner.add(probed.cursor, probed.samples); });
      return hand_out(emit);
    case Probed::Kind::end_of_epoch: {
      board_.with([](PlanState& state) { state.planner.end_order(); });
      auto handed = hand_out(emit);
      board_.with([](PlanState& state) { state.planner.begin_epoch(); });
      emit(std::make_unique<PendingSample>(
          PendingSample{.state = EndOfRows{}}));  // what could not be filled need not wait any longer
      return handed;
    }
  }
  return {};
}

/// Batches that an interrupted run had begun are begun again; what it was about to choose is chosen among the samples
/// it would have been chosen among, before another arrives.
Result<void> PlanStage::begin(const Emit<RowPtr>& emit) {
  const auto begun = board_.with([](const PlanState& state) { return state.planner.in_flight(); });
  for (const PlannedBatch& planned : begun) start_batch(planned, emit);
  return hand_out(emit);
}

Result<void> PlanStage::hand_out(const Emit<RowPtr>& emit) {
  while (board_.with([](const PlanState& state) { return state.planner.wants_batch(); })) {
    switch (await_space()) {
      case Next::stop: return fail(Fault::cancelled, "the feed was closed");
      case Next::replace: replace_holes(emit); break;
      case Next::choose: start_batch(chosen(), emit); break;
    }
  }
  return {};
}

/// As Guarded::wait; the board knows how long that takes, also while it does.
template <class Ready, class Then>
auto PlanStage::await(Ready ready, Then then) {
  board_.with([&](PlanState& state) { state.waits_since = options_.clock->now(); });
  return board_.wait(ready, [&](PlanState& state) {
    state.waited = state.waited_until(options_.clock->now());
    state.waits_since.reset();
    return then(state);
  });
}

PlanStage::Next PlanStage::await_space() {
  return await([](const PlanState& state) { return state.is_stopped || state.planner.has_space() || state.holes; },
               [this](const PlanState& state) {
                 if (state.is_stopped) return Next::stop;
                 // Where batches overtake one another there may always be space.
                 const bool replaces_first = options_.order == BatchOrder::any && state.holes;
                 return state.planner.has_space() && !replaces_first ? Next::choose : Next::replace;
               });
}

/// Waits until the first batch is done, or cannot be without others. The caller that opened the feed waits for it: what
/// comes behind it would only take the cores from it.
void PlanStage::await_first(std::int64_t number) {
  await(
      [number](const PlanState& state) {
        const auto& begun = state.planner.in_flight();
        return state.is_stopped || state.holes || begun.empty() || begun.front().number != number;
      },
      [](const PlanState&) {});
}

PlannedBatch PlanStage::chosen() {
  return ahead_.measure("plan", *options_.clock, [this] {
    return board_.with([](PlanState& state) -> PlannedBatch { return state.planner.choose(); });
  });
}

void PlanStage::start_batch(const PlannedBatch& planned, const Emit<RowPtr>& emit) {
  auto work = std::make_shared<PendingBatch>();
  Batch& batch = work->batch;
  batch.index = planned.number;
  batch.epoch = planned.epoch;
  batch.n_mels = options_.n_mels;
  batch.frames = frames_of_batch(planned, options_);
  if (options_.as_audio)
    batch.content = BatchClips(planned.samples.size());
  else if (options_.padding == Padding::bucket)
    batch.content = buffers_.take(planned.samples.size() * static_cast<std::size_t>(batch.n_mels * batch.frames));
  batch.samples.resize(planned.samples.size());
  work->apart.resize(planned.samples.size());
  while (!works_.empty() && works_.front().use_count() == 1) works_.pop_front();
  works_.push_back(work);
  for (std::size_t at = 0; at < planned.samples.size(); ++at) {
    auto row = row_of(work, at, planned.samples[at]);
    row->made_by = std::exchange(ahead_, {});
    if (!emit(std::move(row))) return;
  }
  if (!std::exchange(has_begun_, true)) await_first(planned.number);
}

void PlanStage::replace_holes(const Emit<RowPtr>& emit) {
  PlannedBatch planned;
  Holes holes;
  board_.with([&](PlanState& state) {
    holes = *state.holes;
    state.holes.reset();
    planned = state.planner.replace(holes.rows);
  });
  const auto work =
      std::find_if(works_.begin(), works_.end(), [&](const auto& it) { return it->batch.index == holes.batch; });
  if (work == works_.end()) throw std::logic_error("a batch in flight is unknown");
  for (const std::size_t at : holes.rows)
    if (!emit(row_of(*work, at, planned.samples[at]))) return;
}

}  // namespace tutti
