#include "decode/batcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "base/units.h"
#include "decode/step_logits.h"
#include "model/cpu/parallel.h"

namespace tutti {
namespace {

constexpr std::int64_t kLogitsPerThread = 50000;

DecodeResult failed(const RequestProgress& progress, const Error& error) {
  return {progress.job.window_id, progress.job.request, tl::unexpected<Error>(error)};
}

DecodeResult without_possible_token(RequestProgress& progress, std::int32_t step) {
  progress.missing = 0;
  return failed(progress,
                {.fault = Fault::device,
                 .what = "decoding step " + std::to_string(step) +
                         " left no possible token: the model's output is not a number, or every token is suppressed",
                 .hint = "Try " + field("compute_type") + " float32"});
}

/// How many of `sequences` from the first on belong to one beam search; 1 for a sample.
std::size_t beams_of_window(std::span<const Sequence> sequences) {
  const auto& first = sequences.front();
  if (!first.is_beam()) return 1;
  const auto other_window =
      std::ranges::find_if(sequences, [&](const Sequence& other) { return other.of != first.of; });
  return static_cast<std::size_t>(other_window - sequences.begin());
}

}  // namespace

Batcher::Batcher(DecodingTokens tokens, std::int32_t text_positions, const Clock& clock)
    : tokens_(std::move(tokens)), text_positions_(text_positions), clock_(clock) {}

void Batcher::submit(SequenceRequest job) {
  const std::int32_t samples = job.samples();
  auto progress = std::make_shared<RequestProgress>();
  progress->job = std::move(job);
  if (!progress->job.searches_beams()) progress->finished.resize(static_cast<std::size_t>(samples));
  progress->missing = samples;
  progress->no_speech_prob = std::numeric_limits<float>::quiet_NaN();
  for (std::int32_t i = 0; i < samples; ++i) waiting_.push_back({.of = progress, .index = i});
}

template <class Goes>
void Batcher::drop(Goes goes) {
  std::erase_if(live_, goes);
  std::erase_if(waiting_, goes);
}

void Batcher::forget(std::uint64_t window_id) {
  drop([&](const Sequence& sequence) { return sequence.of->job.window_id == window_id; });
}

void Batcher::restart() {
  copies_.clear();
  std::vector<Sequence> again;
  for (const auto& sequence : live_) {
    const bool begun_again = sequence.is_beam() && !again.empty() && again.back().of == sequence.of;
    if (begun_again) continue;
    again.push_back({.of = sequence.of, .index = sequence.index});
    if (!sequence.is_beam()) continue;
    sequence.of->finished.clear();
    sequence.of->slots.clear();
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
  live_.clear();
}

std::vector<SequenceRequest> Batcher::withdraw_waiting() {
  std::set<std::uint64_t> kept;
  for (const auto& sequence : live_) kept.insert(sequence.of->job.window_id);
  if (live_.empty() && !waiting_.empty()) kept.insert(waiting_.front().of->job.window_id);
  std::vector<SequenceRequest> withdrawn;
  std::set<const RequestProgress*> known;
  for (const auto& sequence : waiting_) {
    if (kept.contains(sequence.of->job.window_id) || !known.insert(sequence.of.get()).second) continue;
    withdrawn.push_back(sequence.of->job);
  }
  drop([&](const Sequence& sequence) { return known.contains(sequence.of.get()); });
  return withdrawn;
}

std::int32_t Batcher::jobs() const {
  std::set<const RequestProgress*> jobs;
  for (const auto& sequence : live_) jobs.insert(sequence.of.get());
  for (const auto& sequence : waiting_) jobs.insert(sequence.of.get());
  return static_cast<std::int32_t>(jobs.size());
}

std::vector<DecodeResult> Batcher::fail_current(const Error& error) {
  std::vector<DecodeResult> failures;
  const auto fail_job = [&](Sequence& sequence) {
    // Another sequence of the request may have failed it already.
    if (std::exchange(sequence.of->missing, 0) > 0) failures.push_back(failed(*sequence.of, error));
  };
  std::ranges::for_each(live_, fail_job);
  if (live_.empty() && !waiting_.empty()) fail_job(waiting_.front());
  copies_.clear();
  drop([](const Sequence& sequence) { return sequence.of->missing == 0; });
  return failures;
}

std::vector<std::int32_t> Batcher::free_slots(std::int32_t slots) const {
  std::vector<bool> taken(static_cast<std::size_t>(slots));
  for (const auto& sequence : live_) {
    taken.at(static_cast<std::size_t>(sequence.slot)) = true;
    for (const auto& kept : sequence.of->slots) taken.at(static_cast<std::size_t>(kept.slot)) = true;
  }
  std::vector<std::int32_t> free;
  for (std::int32_t slot = slots; slot-- > 0;) {
    if (!taken[static_cast<std::size_t>(slot)]) free.push_back(slot);
  }
  return free;
}

/// First come, first served: a search that waits for its slots is not overtaken.
std::vector<DecodeResult> Batcher::admit(std::int32_t slots) {
  std::vector<DecodeResult> refused;
  if (waiting_.empty()) return refused;
  auto free = free_slots(slots);
  const auto take = [&free] {
    const auto slot = free.back();
    free.pop_back();
    return slot;
  };
  while (!waiting_.empty()) {
    auto& progress = *waiting_.front().of;
    const auto needed = progress.job.slots();
    if (needed > slots) {
      progress.missing = 0;
      refused.push_back(failed(progress, {.fault = Fault::exhausted,
                                          .what = "a search with " + std::to_string(needed) +
                                                  " beams: memory lasts for " + std::to_string(slots),
                                          .hint = "Try a smaller " + field("beam_size")}));
      waiting_.pop_front();
      continue;
    }
    if (static_cast<std::size_t>(needed) > free.size()) break;
    live_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    if (live_.back().is_beam()) {
      for (std::int32_t i = 0; i < needed; ++i) progress.slots.push_back({.slot = take()});
    }
    live_.back().slot = live_.back().is_beam() ? progress.slots.front().slot : take();
  }
  return refused;
}

std::vector<Selection> Batcher::select_all(Stepper& stepper) {
  for (const auto& copy : std::exchange(copies_, {})) stepper.copy_slot(copy.from, copy.to, copy.first, copy.count);
  const bool stay = stepper.selects_on_device() && token_selector_.trusted();
  StepLogits logits(stepper, live_, stay);
  if (stay) return token_selector_.select_tokens(logits.rows(), live_, tokens_);
  std::vector<Selection> selections(live_.size());
  // A vocabulary of 50,000 is worth waking another thread for.
  const auto grain = std::max<std::int64_t>(1, kLogitsPerThread / logits.n_vocab());
  const auto rows = std::ssize(live_);
  for_each_unit((rows + grain - 1) / grain, [&](std::int64_t unit) {
    for (auto i = unit * grain; i < std::min(rows, (unit + 1) * grain); ++i) {
      const auto row = static_cast<std::size_t>(i);
      selections[row] = select_token(live_[row], logits.newest(row), logits.at_sot(row), tokens_);
    }
  });
  return selections;
}

void Batcher::share_out(Seconds step) {
  const double part = 1 / static_cast<double>(live_.size());
  for (const auto& sequence : live_) {
    auto& share = sequence.of->share;
    share.time += step * part;
    share.steps += part;
    ++share.sequence_steps;
  }
}

std::vector<DecodeResult> Batcher::step(Stepper& stepper) {
  auto finished = admit(stepper.slots());
  // Refusals are returned at once: an exception of the stepper would swallow them.
  if (live_.empty() || !finished.empty()) return finished;
  const auto begun = clock_.now();
  const auto selections = select_all(stepper);
  share_out(clock_.now() - begun);
  // Nothing throws from here on: what has been counted once is not counted again.
  std::vector<Sequence> next;
  for (std::size_t i = 0; i < live_.size();) {
    const auto count = beams_of_window(std::span(live_).subspan(i));
    if (selections[i].no_speech_prob) live_[i].of->no_speech_prob = *selections[i].no_speech_prob;
    if (live_[i].is_beam()) {
      step_search(std::span(live_).subspan(i, count), std::span(selections).subspan(i, count), next, finished);
    } else {
      step_sample(live_[i], selections[i], next, finished);
    }
    i += count;
  }
  live_ = std::move(next);
  // A failed sample ends its request: its other sequences go as well, at whatever position they are.
  drop([](const Sequence& sequence) { return sequence.of->missing == 0; });
  return finished;
}

void Batcher::step_sample(Sequence& sequence, const Selection& selection, std::vector<Sequence>& next,
                          std::vector<DecodeResult>& finished) const {
  auto& progress = *sequence.of;
  if (progress.missing == 0) return;
  const bool ended = advance(sequence, selection, tokens_, text_positions_);
  if (std::isnan(sequence.sample.sum_logprob)) {
    return finished.push_back(without_possible_token(progress, sequence.sample.steps));
  }
  if (!ended) return next.push_back(std::move(sequence));
  progress.finished[static_cast<std::size_t>(sequence.index)] = std::move(sequence.sample);
  if (--progress.missing == 0) finished.push_back(end(progress));
}

void Batcher::step_search(std::span<const Sequence> beams, std::span<const Selection> selections,
                          std::vector<Sequence>& next, std::vector<DecodeResult>& finished) {
  auto& progress = *beams.front().of;
  auto step = step_beams(beams, selections, tokens_, text_positions_);
  if (step.failed) {
    return finished.push_back(without_possible_token(progress, beams.front().sample.steps + 1));
  }
  if (step.live.empty()) {
    progress.missing = 0;
    return finished.push_back(end(progress));
  }
  next.insert(next.end(), std::make_move_iterator(step.live.begin()), std::make_move_iterator(step.live.end()));
  copies_.insert(copies_.end(), step.copies.begin(), step.copies.end());
}

DecodeResult Batcher::end(RequestProgress& progress) const {
  auto& best = progress.finished[likeliest(progress.finished, progress.job.decoding)];
  DecodeOutcome outcome{.tokens = std::move(best.tokens),
                        .sum_logprob = best.sum_logprob,
                        .no_speech_prob = progress.no_speech_prob,
                        .steps = best.steps,
                        .narrow_margins = best.narrow_margins,
                        .token_logprobs = std::move(best.token_logprobs),
                        .share = progress.share};
  outcome.avg_logprob = outcome.sum_logprob / static_cast<double>(outcome.tokens.size() + 1);
  return {progress.job.window_id, progress.job.request, std::move(outcome)};
}

}  // namespace tutti
