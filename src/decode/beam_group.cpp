#include "decode/beam_group.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

std::vector<Continuation> offers(std::span<const Selection> selections) {
  std::vector<Continuation> all;
  for (std::size_t beam = 0; beam < selections.size(); ++beam) {
    for (auto offer : selections[beam].continuations) {
      offer.parent = beam;
      all.push_back(offer);
    }
  }
  return all;
}

/// The beam's sample with the continuation's token, unless that is the end.
Sample continued(const Sequence& parent, const Continuation& by, bool ends, bool narrow) {
  Sample sample = parent.sample;
  ++sample.steps;
  sample.narrow_margins += narrow ? 1 : 0;
  sample.sum_logprob = by.sum_logprob;
  if (parent.of->job.decoding.token_logprobs) sample.token_logprobs.push_back(by.logprob);
  if (!ends) sample.tokens.push_back(by.token);
  return sample;
}

BeamSlot& slot_of(RequestProgress& progress, std::int32_t slot) {
  return *std::ranges::find(progress.slots, slot, &BeamSlot::slot);
}

/// Moves what `from` holds to `to`, as far as it is not there already.
SlotCopy copy_between(const BeamSlot& from, BeamSlot& to, std::int32_t prompt) {
  const auto length = prompt + static_cast<std::int32_t>(from.held.size());
  const auto common = std::ranges::mismatch(from.held, to.held).in1 - from.held.begin();
  const auto first = to.filled ? prompt + static_cast<std::int32_t>(common) : 0;
  to.held = from.held;
  to.filled = true;
  return {.from = from.slot, .to = to.slot, .first = first, .count = length - first};
}

/// Gives every next beam a slot: its parent's if that is still free, else one whose beam was not continued.
std::vector<SlotCopy> place(std::vector<Sequence>& next, const std::vector<Continuation>& live,
                            std::span<const Sequence> beams, RequestProgress& progress) {
  for (const auto& beam : beams) {
    auto& slot = slot_of(progress, beam.slot);
    slot.filled = true;
    slot.held = beam.sample.tokens;
  }
  const auto taken = [&](std::int32_t slot) { return std::ranges::find(next, slot, &Sequence::slot) != next.end(); };
  std::vector<std::size_t> movers;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto own = beams[live[i].parent].slot;
    taken(own) ? movers.push_back(i) : void(next[i].slot = own);
  }
  std::vector<SlotCopy> copies;
  const auto prompt = static_cast<std::int32_t>(progress.job.prompt.size());
  for (const auto i : movers) {
    auto& to = *std::ranges::find_if(progress.slots, [&](const BeamSlot& slot) { return !taken(slot.slot); });
    next[i].slot = to.slot;
    copies.push_back(copy_between(slot_of(progress, beams[live[i].parent].slot), to, prompt));
  }
  std::erase_if(copies, [](const SlotCopy& copy) { return copy.count == 0; });
  return copies;
}

/// Live beams fill up where too few hypotheses ended, the likeliest first.
void fill_up(RequestProgress& progress, const std::vector<Sequence>& live) {
  const auto wanted = static_cast<std::size_t>(progress.job.decoding.beams());
  for (const auto& beam : live) {  // rank() sorted them
    if (progress.finished.size() >= wanted) return;
    progress.finished.push_back(beam.sample);
  }
}

}  // namespace

BeamStep step_beams(std::span<const Sequence> beams, std::span<const Selection> selections,
                    const DecodingTokens& tokens, std::int32_t n_text_ctx) {
  auto& progress = *beams.front().of;
  const auto& job = progress.job;
  const auto& search = job.decoding;
  auto all = offers(selections);
  if (std::ranges::any_of(all, [](const Continuation& one) { return std::isnan(one.sum_logprob); })) {
    return {.failed = true};
  }
  const auto round = rank(std::move(all), search.beams(), tokens.eot);
  const bool narrow = round.narrow || std::ranges::any_of(selections, &Selection::narrow);

  const auto enough = static_cast<std::size_t>(enough_hypotheses(search.beams(), search.patience.value_or(1)));
  for (const auto& end : round.ended) {
    if (progress.finished.size() >= enough) break;
    progress.finished.push_back(continued(beams[end.parent], end, true, narrow));
  }
  BeamStep step;
  for (const auto& one : round.live) {
    step.live.push_back({.of = beams.front().of, .sample = continued(beams[one.parent], one, false, narrow)});
  }
  const bool full = !step.live.empty() && is_full(step.live.front().sample, job, n_text_ctx);
  if (progress.finished.size() >= enough || step.live.empty() || full) {
    fill_up(progress, step.live);
    return {.failed = progress.finished.empty()};
  }
  step.copies = place(step.live, round.live, beams, progress);
  return step;
}

}  // namespace tutti
