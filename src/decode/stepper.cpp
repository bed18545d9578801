#include "decode/stepper.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "decode/to_host.h"

namespace tutti {
namespace {

/// As a tensor's copy_, whose overhead is more than the few tokens that beams exchange at every step.
/// layer: [slots, heads, positions, width], each head's positions one behind the other.
void copy_in_memory(at::Tensor& layer, std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(layer.element_size());
  auto* bytes = static_cast<std::byte*>(layer.mutable_data_ptr());
  const auto at = [&](std::int64_t slot, std::int64_t head) {
    return bytes + (slot * layer.stride(0) + head * layer.stride(1) + first * layer.stride(2)) * size;
  };
  for (std::int64_t head = 0; head < layer.size(1); ++head) {
    std::memcpy(at(to, head), at(from, head), static_cast<std::size_t>(count * layer.stride(2) * size));
  }
}

/// How many rows of logits it needs.
std::int64_t rows_of(const SequenceStep& sequence) {
  return static_cast<std::int64_t>(sequence.logits_at.empty() ? sequence.tokens.size() : sequence.logits_at.size());
}

}  // namespace

ModelStepper::ModelStepper(const WhisperModel& model, std::int32_t slots, std::optional<StepDevice> device,
                           std::int32_t text_positions)
    : model_(model),
      slots_(slots),
      cache_(model.make_self_kv(device && StaticStep::fits(model) ? slots + 1 : slots, text_positions)) {
  if (cache_.slots() > slots) steps_ = std::make_unique<CheckedSteps>(model, cache_, std::move(*device));
}

/// Single tokens and short prompts in a static step, as many of these as fit into it; the other prompts by the
/// model, all at once; logits in the order of `sequences`. By torch's operators a prompt of four tokens takes longer
/// than a step of 32 sequences (large-v3, H100: 6.7 and 5.5 ms), because it waits for its 900 launches.
at::Tensor ModelStepper::decode_apart(std::span<const SequenceStep> sequences) {
  std::vector<SequenceStep> steps, prompts;
  std::vector<bool> in_step;
  auto rows_left = static_cast<std::size_t>(StaticStep::kPromptRows);
  for (const auto& sequence : sequences) {
    const auto more = sequence.tokens.size() - 1;  // than the row that it has as a slot
    in_step.push_back(more <= rows_left);
    if (more <= rows_left) rows_left -= more;
    (in_step.back() ? steps : prompts).push_back(sequence);
  }
  if (steps.empty()) return model_.decode(prompts, cache_);
  const auto of_steps = steps_->decode(steps);
  if (!of_steps) return model_.decode(sequences, cache_);
  if (prompts.empty()) return *of_steps;
  const auto of_prompts = model_.decode(prompts, cache_);
  std::vector<at::Tensor> parts;
  std::int64_t step = 0, row = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto rows = rows_of(sequences[i]);
    parts.push_back(in_step[i] ? of_steps->narrow(0, step, rows) : of_prompts.narrow(0, row, rows));
    (in_step[i] ? step : row) += rows;
  }
  return at::cat(parts);
}

at::Tensor ModelStepper::decode(std::span<const SequenceStep> sequences) {
  const c10::InferenceMode no_autograd;
  const auto logits = decode_there(sequences);
  // The caller's own: a static step writes its logits to the same memory every time.
  return logits.is_cpu() && steps_ ? logits.clone() : to_host(logits);
}

bool ModelStepper::selects_on_device() const {
  return cache_.whole.is_cuda();
}

at::Tensor ModelStepper::decode_there(std::span<const SequenceStep> sequences) {
  const c10::InferenceMode no_autograd;
  return (steps_ ? decode_apart(sequences) : model_.decode(sequences, cache_)).to(at::kFloat);
}

std::int32_t ModelStepper::prepare(const CrossKv& window, std::int32_t least, std::int32_t most) {
  return steps_ ? steps_->prepare(window, least, most + StaticStep::kPromptRows) : 0;
}

void ModelStepper::copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) {
  const c10::InferenceMode no_autograd;
  if (cache_.whole.is_cuda()) {
    const auto tokens = [&](std::int64_t slot) { return cache_.whole.select(1, slot).narrow(2, first, count); };
    tokens(to).copy_(tokens(from));
    return;
  }
  for (auto* side : {&cache_.keys, &cache_.values}) {
    for (auto& layer : *side) copy_in_memory(layer, from, to, first, count);
  }
}

}  // namespace tutti
