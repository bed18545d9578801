#include "decode/stepper.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstddef>
#include <cstring>

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

}  // namespace

ModelStepper::ModelStepper(const WhisperModel& model, std::int32_t slots)
    : model_(model), slots_(slots), cache_(model.make_self_kv(slots)) {}

at::Tensor ModelStepper::decode(std::span<const SequenceStep> sequences) {
  const c10::InferenceMode no_autograd;
  return model_.decode(sequences, cache_).to(at::kCPU, at::kFloat).contiguous();
}

void ModelStepper::copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) {
  const c10::InferenceMode no_autograd;
  for (auto* side : {&cache_.keys, &cache_.values}) {
    for (auto& layer : *side) {
      if (layer.is_cpu()) {
        copy_in_memory(layer, from, to, first, count);
      } else {
        layer.select(0, to).narrow(1, first, count).copy_(layer.select(0, from).narrow(1, first, count));
      }
    }
  }
}

}  // namespace tutti
