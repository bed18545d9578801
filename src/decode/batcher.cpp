#include "decode/batcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/units.h"
#include "decode/softmax.h"
#include "decode/step_logits.h"

namespace tutti {
namespace {

Error no_probabilities(const Sequence& sequence) {
  return {.fault = Fault::device,
          .what = "decoding step " + std::to_string(sequence.sample.steps) +
                  " left no possible token: the model's output is not a number, or every token is suppressed",
          .hint = "Try --compute-type float32"};
}

DecodeOutcome outcome_of(JobProgress& progress, double seconds) {
  auto& best = progress.finished[likeliest(progress.finished)];
  DecodeOutcome outcome{.tokens = std::move(best.tokens),
                        .sum_logprob = best.sum_logprob,
                        .no_speech_prob = progress.no_speech_prob,
                        .steps = best.steps,
                        .narrow_margins = best.narrow_margins,
                        .seconds = seconds};
  outcome.avg_logprob = outcome.sum_logprob / static_cast<double>(outcome.tokens.size() + 1);
  return outcome;
}

}  // namespace

Batcher::Batcher(DecodingTokens tokens, std::int32_t n_text_ctx, const Clock& clock)
    : tokens_(std::move(tokens)), n_text_ctx_(n_text_ctx), clock_(clock) {}

void Batcher::submit(DecodeJob job) {
  const std::int32_t samples = job.temperature == 0 ? 1 : job.best_of;
  auto progress = std::make_shared<JobProgress>();
  progress->job = std::move(job);
  progress->submitted = clock_.now();
  progress->finished.resize(static_cast<std::size_t>(samples));
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
  for (auto& sequence : live_) {
    sequence.sample = {};
    sequence.slot = -1;
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(live_.begin()), std::make_move_iterator(live_.end()));
  live_.clear();
}

std::vector<FinishedJob> Batcher::fail_current(const Error& error) {
  if (live_.empty()) admit(1);
  std::vector<FinishedJob> failed;
  for (auto& sequence : live_) {
    auto& progress = *sequence.of;
    if (progress.missing == 0) continue;  // a brother stood in for it
    progress.missing = 0;
    failed.push_back({progress.job.window_id, progress.job.request, tl::unexpected<Error>(error)});
  }
  drop([](const Sequence& sequence) { return sequence.of->missing == 0; });
  return failed;
}

std::int32_t Batcher::free_slot(std::int32_t slots) const {
  std::int32_t slot = 0;
  while (slot < slots && std::ranges::any_of(live_, [&](const auto& s) { return s.slot == slot; })) ++slot;
  return slot;
}

void Batcher::admit(std::int32_t slots) {
  while (!waiting_.empty()) {
    const auto slot = free_slot(slots);
    if (slot == slots) return;
    live_.push_back(std::move(waiting_.front()));
    live_.back().slot = slot;
    waiting_.pop_front();
  }
}

std::vector<FinishedJob> Batcher::step(Stepper& stepper) {
  admit(stepper.slots());
  std::vector<FinishedJob> finished;
  if (live_.empty()) return finished;

  StepLogits logits(stepper, live_);
  for (std::size_t i = 0; i < live_.size(); ++i) {
    auto& sequence = live_[i];
    if (sequence.entering() && tokens_.no_speech) {
      sequence.of->no_speech_prob = softmax_at(logits.at_sot(i), *tokens_.no_speech);
    }
    const bool ended = advance(sequence, logits.newest(i), tokens_, n_text_ctx_);
    if (ended || std::isnan(sequence.sample.sum_logprob)) retire(sequence, finished);
  }
  // A failed sample answers for its job: the brothers go as well, wherever they stand.
  drop([](const Sequence& sequence) { return sequence.of->missing == 0; });
  std::erase_if(live_, [](const Sequence& sequence) { return sequence.slot < 0; });
  return finished;
}

void Batcher::retire(Sequence& sequence, std::vector<FinishedJob>& finished) const {
  auto& progress = *sequence.of;
  sequence.slot = -1;
  if (progress.missing == 0) return;
  const auto answer = [&](Result<DecodeOutcome> outcome) {
    finished.push_back({progress.job.window_id, progress.job.request, std::move(outcome)});
  };
  if (std::isnan(sequence.sample.sum_logprob)) {
    progress.missing = 0;
    return answer(tl::unexpected<Error>(no_probabilities(sequence)));
  }
  progress.finished[static_cast<std::size_t>(sequence.index)] = std::move(sequence.sample);
  if (--progress.missing > 0) return;
  const Seconds taken = clock_.now() - progress.submitted;
  answer(outcome_of(progress, taken.count()));
}

}  // namespace tutti
