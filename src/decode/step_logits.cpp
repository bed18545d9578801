#include "decode/step_logits.h"

#include <ATen/ATen.h>

#include <map>

namespace tutti {

StepLogits::StepLogits(Stepper& stepper, std::span<const Sequence> live) {
  std::vector<SequenceStep> steps;
  std::map<const JobProgress*, std::size_t> prefilled;  // by which sequence
  std::int64_t next_row = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto& sequence = live[i];
    if (sequence.entering()) {
      const auto [first, is_first] = prefilled.try_emplace(sequence.of.get(), i);
      if (!is_first) {
        rows_.push_back(rows_[first->second]);
        sot_rows_.push_back(sot_rows_[first->second]);
        continue;
      }
    }
    const auto tokens = sequence.pending();
    steps.push_back({.slot = sequence.slot,
                     .position = sequence.position(),
                     .tokens = tokens,
                     .window = sequence.of->job.window.get()});
    sot_rows_.push_back(sequence.entering() ? next_row + sequence.of->job.sot_index : -1);
    next_row += static_cast<std::int64_t>(tokens.size());
    rows_.push_back(next_row - 1);
  }
  logits_ = stepper.decode(steps);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i].entering()) continue;
    const auto& source = live[prefilled.at(live[i].of.get())];
    const auto length = static_cast<std::int32_t>(live[i].pending().size());
    if (source.slot != live[i].slot) stepper.copy_slot(source.slot, live[i].slot, length);
  }
}

std::span<float> StepLogits::row(std::int64_t index) const {
  const auto width = logits_.size(1);
  return {logits_.data_ptr<float>() + index * width, static_cast<std::size_t>(width)};
}

std::span<float> StepLogits::newest(std::size_t i) {
  const auto own = row(rows_[i]);
  // Only an entering sequence can share its row with another.
  if (sot_rows_[i] < 0) return own;
  copy_.assign(own.begin(), own.end());
  return copy_;
}

std::span<const float> StepLogits::at_sot(std::size_t i) const {
  return row(sot_rows_[i]);
}

}  // namespace tutti
