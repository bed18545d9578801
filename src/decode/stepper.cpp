#include "decode/stepper.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

namespace tutti {

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
      layer.select(0, to).narrow(1, first, count).copy_(layer.select(0, from).narrow(1, first, count));
    }
  }
}

}  // namespace tutti
