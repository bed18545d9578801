#include "decode/step_logits.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tutti {

StepLogits::StepLogits(Stepper& stepper, std::span<const Sequence> live, bool stay) {
  std::vector<SequenceStep> steps;
  std::vector<std::vector<std::int32_t>> wanted(live.size());  // sot and the newest token of each prefill
  Prefilled prefilled;
  std::int64_t next_row = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto& sequence = live[i];
    const auto& job = sequence.of->job;
    const auto tokens = sequence.pending();
    if (sequence.entering()) {
      const auto [first, is_first] = prefilled.try_emplace(sequence.of.get(), i);
      if (!is_first) {
        rows_.push_back(rows_[first->second]);
        sot_rows_.push_back(-1);
        continue;
      }
      const auto last = static_cast<std::int32_t>(tokens.size()) - 1;
      wanted[i] = job.sot_index == last ? std::vector{last} : std::vector{job.sot_index, last};
    }
    steps.push_back({.slot = sequence.slot,
                     .position = sequence.position(),
                     .tokens = tokens,
                     .window = job.window.get(),
                     .logits_at = wanted[i]});
    sot_rows_.push_back(sequence.entering() ? next_row : -1);
    next_row += std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted[i].size()));
    rows_.push_back(next_row - 1);
  }
  logits_ = stay ? stepper.decode_there(steps) : stepper.decode(steps);
  share_prefills(stepper, live, prefilled, stay);
}

/// Copies what one sequence of a request prefilled to the request's other sequences.
void StepLogits::share_prefills(Stepper& stepper, std::span<const Sequence> live, const Prefilled& prefilled,
                                bool stay) {
  copies_.resize(live.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i].entering()) continue;
    const auto& source = live[prefilled.at(live[i].of.get())];
    const auto length = static_cast<std::int32_t>(live[i].pending().size());
    if (source.slot == live[i].slot) continue;
    stepper.copy_slot(source.slot, live[i].slot, 0, length);
    if (stay) continue;
    const auto shared = row(rows_[i]);
    copies_[i].assign(shared.begin(), shared.end());
  }
}

std::span<float> StepLogits::row(std::int64_t index) const {
  const auto width = logits_.size(1);
  return {logits_.data_ptr<float>() + index * width, static_cast<std::size_t>(width)};
}

std::span<float> StepLogits::newest(std::size_t i) {
  return copies_[i].empty() ? row(rows_[i]) : std::span(copies_[i]);
}

std::span<const float> StepLogits::at_sot(std::size_t i) const {
  return sot_rows_[i] < 0 ? std::span<float>() : row(sot_rows_[i]);
}

}  // namespace tutti
