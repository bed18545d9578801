#include "feed/stages/batch_stage.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace tutti {

Result<void> BatchStage::take(RowPtr row, const Emit<Batch>& emit) {
  if (!row->is<EndOfRows>()) {
    if (auto noted = note(*row); !noted) return noted;
    row.reset();
  }
  Settled settled;
  for (auto done = next_done(settled); done != progress_.end(); done = next_done(settled)) {
    StageWork made_by = std::move(done->second.made_by);
    Batch batch = made_by.measure("batch", *options_.clock, [&] { return finished(done->second); });
    progress_.erase(done);
    batch.made_by = std::move(made_by);
    batch.index = settled.index;
    batch.held_up_since = std::exchange(held_up_since_, {});
    batch.position = prefix_ + settled.position;
    if (auto checked = check_before(batch.epoch); !checked) return checked;
    if (batch.size() == 0) continue;
    given_.note(batch.epoch);
    if (!emit(std::move(batch))) return {};
  }
  note_held_up();
  return check_before(board_.with([](const PlanState& state) { return state.planner.oldest_epoch(); }));
}

/// Only within an epoch, as with BatchOrder::any: batches of the next one would have to wait all the same.
void BatchStage::note_held_up() {
  const auto oldest = board_.with([](const PlanState& state) { return state.planner.oldest_epoch(); });
  const auto waits = [&](const auto& entry) {
    return is_whole(entry.second) && entry.second.work->batch.epoch == oldest;
  };
  if (!std::ranges::any_of(progress_, waits))
    held_up_since_.reset();
  else if (!held_up_since_)
    held_up_since_ = options_.clock->now();
}

Result<void> BatchStage::check_before(std::int64_t epoch) const {
  if (given_.was_empty_before(epoch)) return tl::unexpected(bad_.nothing_usable());
  return {};
}

Result<void> BatchStage::note(PendingSample& row) {
  Progress& progress = progress_[row.work->batch.index];
  if (!progress.work) {
    progress.work = row.work;
    progress.missing = row.work->batch.samples.size();
  }
  --progress.missing;
  progress.made_by += row.made_by;
  const Error* bad = row.bad();
  if (!bad) return {};
  progress.bad.push_back(row.at);
  return bad_.add(row.line.id, bad->text());
}

BatchStage::Settled BatchStage::resolved(Planner& planner, std::int64_t number) {
  Settled settled{.index = planner.resolved()};
  planner.resolve(number);
  settled.position = planner.save();
  return settled;
}

BatchStage::Batches::iterator BatchStage::next_done(Settled& settled) {
  const bool may_overtake = options_.order == BatchOrder::any;
  for (auto it = progress_.begin(); it != progress_.end(); ++it) {
    if (settle_oldest(it->second, settled) || (may_overtake && settle_ahead(it->second, settled))) return it;
    if (!may_overtake) break;
  }
  return progress_.end();
}

bool BatchStage::settle_ahead(Progress& later, Settled& settled) {
  if (!is_whole(later)) return false;
  const Batch& batch = later.work->batch;
  bool is_done = false;
  board_.change([&](PlanState& state) {
    if (state.planner.in_flight().front().epoch != batch.epoch) return;
    settled = resolved(state.planner, batch.index);
    is_done = true;
  });
  return is_done;
}

bool BatchStage::settle_oldest(Progress& oldest, Settled& settled) {
  bool is_done = false;
  const std::int64_t number = oldest.work->batch.index;
  board_.change([&](PlanState& state) {
    if (state.planner.in_flight().front().number != number) return;    // an older batch has not begun to arrive
    const bool is_open = state.holes && state.holes->batch == number;  // replacements requested, none chosen yet
    if (oldest.missing > 0 && !is_open) return;
    if (!oldest.bad.empty() || is_open) {
      if (!state.planner.is_drained(oldest.work->batch.epoch)) {
        if (!is_open) {
          std::sort(oldest.bad.begin(), oldest.bad.end());
          oldest.missing = oldest.bad.size();
          state.holes = Holes{number, std::exchange(oldest.bad, {})};
        }
        return;
      }
      state.holes.reset();  // there is nothing left to fill them with
    }
    settled = resolved(state.planner, number);
    is_done = true;
  });
  return is_done;
}

/// Rows without a sample are left out, and rows longer than planned get the frames that they need.
Batch BatchStage::finished(Progress& progress) const {
  Batch& made = progress.work->batch;
  std::vector<std::size_t> kept;
  std::int64_t longest = made.frames;
  for (std::size_t at = 0; at < made.samples.size(); ++at) {
    if (made.samples[at].frames == 0) continue;
    kept.push_back(at);
    longest = std::max<std::int64_t>(longest, made.samples[at].frames);
  }
  const bool is_whole = kept.size() == made.samples.size() && longest == made.frames;
  if (is_whole && !progress.work->keeps_all_apart()) return std::move(made);
  if (longest > made.frames) longest = rounded_up(longest, options_.frame_multiple);

  Batch batch;
  batch.index = made.index;
  batch.epoch = made.epoch;
  batch.n_mels = made.n_mels;
  batch.frames = longest;
  if (auto* clips = std::get_if<BatchClips>(&made.content)) {
    BatchClips kept_clips;
    for (const std::size_t at : kept) kept_clips.push_back(std::move((*clips)[at]));
    batch.content = std::move(kept_clips);
  } else {
    gather_features(*progress.work, kept, batch);
  }
  for (const std::size_t at : kept) batch.samples.push_back(std::move(made.samples[at]));
  return batch;
}

void BatchStage::gather_features(PendingBatch& work, const std::vector<std::size_t>& kept, Batch& batch) const {
  const Batch& made = work.batch;
  batch.content = buffers_.take(kept.size() * static_cast<std::size_t>(batch.n_mels * batch.frames));
  float* to = batch.row(0);
  for (const std::size_t at : kept) {
    const auto own = std::exchange(work.apart[at], {});
    const std::int64_t width = own.empty() ? made.frames : std::ssize(own) / batch.n_mels;
    const std::int64_t shared = std::min(width, batch.frames);
    const float* from = own.empty() ? made.row(static_cast<std::int64_t>(at)) : own.data();
    for (std::int64_t bin = 0; bin < batch.n_mels; ++bin, from += width, to += batch.frames) {
      std::copy_n(from, shared, to);
      std::fill(to + shared, to + batch.frames, from[width - 1]);  // silence: every row ends with it
    }
  }
}

}  // namespace tutti
