#include "feed/packed/gather_plan.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "feed/batch_rules.h"

namespace tutti {

GatherPlan::GatherPlan(const FeedOptions& options, const PackedSet& set, BadSamples& bad, Planner planner,
                       bool is_resumed)
    : options_(options),
      set_(set),
      bad_(bad),
      planner_(std::move(planner)),
      order_(options, set.lines(), planner_.epoch(), planner_.cursor()) {
  if (is_resumed) given_.expect_whole_from(planner_.epoch() + 1);
}

std::optional<Result<GatherList>> GatherPlan::next() {
  while (ready_.empty()) {
    if (failed_) return tl::unexpected(*failed_);
    const auto gone_on = go_on();
    if (!gone_on)
      failed_ = gone_on.error();
    else if (!*gone_on)
      return std::nullopt;
  }
  GatherList list = std::move(ready_.front());
  ready_.pop_front();
  return list;
}

Result<bool> GatherPlan::go_on() {
  Result<void> done{};
  if (has_begun_ && planner_.wants_batch()) {
    done = hand_out();
  } else if (is_ending_) {
    end_epoch();
  } else {
    const auto sample = order_.next();
    if (!sample) return false;
    done = take(*sample);
  }
  if (done && given_.was_empty_before(planner_.oldest_epoch())) return tl::unexpected(bad_.nothing_usable());
  return done.map([] { return true; });
}

Result<void> GatherPlan::take(const Probed& next) {
  switch (next.kind) {
    case Probed::Kind::begin: return begin_again();
    case Probed::Kind::sample: return add(next);
    case Probed::Kind::end_of_epoch:
      planner_.end_order();
      is_ending_ = true;
      break;
  }
  return {};
}

/// Batches that an interrupted run had begun.
Result<void> GatherPlan::begin_again() {
  has_begun_ = true;
  for (const PlannedBatch& batch : planner_.in_flight()) {
    frames_.push_back(frames_of_batch(batch, options_));
    if (auto noted = note_bad(batch); !noted) return noted;
  }
  settle();
  return {};
}

/// The samples of a line join those that wait.
Result<void> GatherPlan::add(const Probed& next) {
  bad_.note_seen(1);
  std::vector<PlannedSample> samples;
  for (std::int64_t i = set_.first_of(next.index); i < set_.first_of(next.index + 1); ++i) {
    const PackEntry& entry = set_.entry(i);
    if (entry.piece != kBadLine) {
      samples.push_back({next.index, entry.piece, entry.planned});
      continue;
    }
    const auto [id, reason] = set_.bad_facts(entry);
    if (auto noted = bad_.add(id, reason); !noted) return noted;
  }
  planner_.add(next.cursor, samples);
  return {};
}

/// The next batch is chosen; where there is no space for it, the oldest gets others for its bad samples first.
Result<void> GatherPlan::hand_out() {
  const bool has_space = planner_.has_space();
  if (has_space) {
    frames_.push_back(frames_of_batch(planner_.choose(), options_));
  } else {
    planner_.replace(bad_rows(planner_.in_flight().front()));
  }
  const auto& begun = planner_.in_flight();
  if (auto noted = note_bad(has_space ? begun.back() : begun.front()); !noted) return noted;
  settle();
  return {};
}

/// What could not be filled need not wait any longer.
void GatherPlan::end_epoch() {
  is_ending_ = false;
  planner_.begin_epoch();
  settle();
}

/// The oldest batches that are whole, or will never be, are ready.
void GatherPlan::settle() {
  while (!planner_.in_flight().empty()) {
    const PlannedBatch& oldest = planner_.in_flight().front();
    if (!bad_rows(oldest).empty() && !planner_.is_drained(oldest.epoch)) return;
    GatherList list = list_of(oldest, frames_.front());
    frames_.pop_front();
    planner_.resolve();
    if (list.entries.empty()) continue;
    given_.note(list.epoch);
    list.position = planner_.save();
    ready_.push_back(std::move(list));
  }
}

Result<void> GatherPlan::note_bad(const PlannedBatch& batch) {
  for (const std::size_t row : bad_rows(batch)) {
    const auto [id, reason] = set_.bad_facts(set_.entry(number_of(batch.samples[row])));
    if (auto noted = bad_.add(id, reason); !noted) return noted;
  }
  return {};
}

/// Rows without a sample are left out, and rows longer than planned get the frames that they need.
GatherList GatherPlan::list_of(const PlannedBatch& batch, std::int64_t frames) const {
  GatherList list{.number = batch.number, .epoch = batch.epoch, .frames = frames};
  for (const PlannedSample& sample : batch.samples) {
    if (sample.index < 0) continue;
    const std::int64_t number = number_of(sample);
    const PackEntry& entry = set_.entry(number);
    if (entry.is_bad()) continue;
    list.entries.push_back(number);
    list.frames = std::max<std::int64_t>(list.frames, entry.real);
  }
  if (list.frames > frames) list.frames = rounded_up(list.frames, options_.frame_multiple);
  return list;
}

std::vector<std::size_t> GatherPlan::bad_rows(const PlannedBatch& batch) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < batch.samples.size(); ++row) {
    const PlannedSample& sample = batch.samples[row];
    if (sample.index >= 0 && set_.entry(number_of(sample)).is_bad()) rows.push_back(row);
  }
  return rows;
}

std::int64_t GatherPlan::number_of(const PlannedSample& sample) const {
  const std::int64_t first = set_.first_of(sample.index);
  return set_.entry(first).piece == kBadLine ? first : first + std::max(sample.piece, 0);
}

}  // namespace tutti
