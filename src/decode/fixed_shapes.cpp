#include "decode/fixed_shapes.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

namespace tutti {
namespace {

constexpr std::int32_t kNobodys = 0;  // any token will do

bool is_step(const SequenceStep& sequence) {
  return sequence.position > 0 && sequence.tokens.size() == 1;
}

}  // namespace

FixedShapeStepper::FixedShapeStepper(std::unique_ptr<Stepper> inner) : inner_(std::move(inner)) {}

/// One call of kRows single tokens, those missing taken from the slots behind everybody's.
at::Tensor FixedShapeStepper::decode_group(std::span<const SequenceStep> steps) {
  std::vector<SequenceStep> group(steps.begin(), steps.end());
  for (auto filler = slots(); group.size() < kRows; ++filler) {
    group.push_back({.slot = filler, .tokens = {&kNobodys, 1}, .window = steps.front().window});
  }
  return inner_->decode(group).narrow(0, 0, static_cast<std::int64_t>(steps.size()));
}

at::Tensor FixedShapeStepper::decode(std::span<const SequenceStep> sequences) {
  std::vector<at::Tensor> logits;
  for (std::size_t i = 0; i < sequences.size();) {
    if (!is_step(sequences[i])) {
      logits.push_back(inner_->decode(sequences.subspan(i++, 1)));
      continue;
    }
    std::size_t count = 1;
    while (count < kRows && i + count < sequences.size() && is_step(sequences[i + count])) ++count;
    logits.push_back(decode_group(sequences.subspan(i, count)));
    i += count;
  }
  return logits.size() == 1 ? logits.front().contiguous() : at::cat(logits);
}

void FixedShapeStepper::copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) {
  inner_->copy_slot(from, to, first, count);
}

}  // namespace tutti
