#include "model/decoder_step/static_step.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/static_pass.h"
#include "model/state.h"

namespace tutti {

bool StaticStep::fits(const WhisperModel& model) {
  const auto& d = model.dims();
  const auto& weights = *model.weights_;
  return !weights.layout.own_kernels && d.n_text_state == d.n_text_head * kHeadSize &&
         weights.net.decoder.front().mlp_in.weight.size(0) == 4 * d.n_text_state;
}

StaticStep::StaticStep(const WhisperModel& model, const SelfKv& cache, std::int32_t processors, std::int32_t beams)
    : model_(model), cache_(cache), processors_(processors), together_(std::min(beams, kMostSharedRows)) {
  const c10::InferenceMode no_autograd;
  const auto rows = bucket_for(static_cast<std::int32_t>(cache.slots()) - 1 + kPromptRows);
  const auto activations = at::TensorOptions(model.weights_->layout.activations).device(cache.whole.device());
  buffers_ = make_step_buffers(model.dims(), rows, activations, processors);
}

void StaticStep::upload(std::span<const SequenceStep> sequences, std::int32_t bucket) {
  const c10::InferenceMode no_autograd;
  const auto plan = plan_decoding(sequences, model_.dims(), cache_.slots() - 1, cache_.positions());
  const auto rows = static_cast<std::int64_t>(plan.tokens.size());
  if (rows > bucket || bucket > buffers_.logits.size(0)) {
    throw std::invalid_argument("a static step of " + std::to_string(bucket) + " rows takes no " +
                                std::to_string(rows) + " tokens");
  }
  const StepInputs inputs{bucket, model_.dims().n_text_layer};
  write_inputs(inputs, plan, sequences, cache_, static_cast<std::byte*>(buffers_.host.mutable_data_ptr()));
  buffers_.inputs.narrow(0, 0, inputs.size()).copy_(buffers_.host.narrow(0, 0, inputs.size()), /*non_blocking=*/true);
}

void StaticStep::run(std::int32_t bucket) const {
  const c10::InferenceMode no_autograd;
  const auto device = cache_.whole.device();
  const c10::DeviceGuard here(device);
  const auto& d = model_.dims();
  pass_through(model_.weights_->net, {.dims = &d,
                                      .cache = &cache_,
                                      .buffers = &buffers_,
                                      .inputs = {bucket, d.n_text_layer},
                                      .splits = splits_of(bucket, d.n_text_head, processors_, together_),
                                      .shared = shares_windows(),
                                      .byte_windows = model_.weights_->layout.byte_cross,
                                      .now = kernels_of(device)});
}

at::Tensor StaticStep::logits(std::int64_t rows) const {
  return buffers_.logits.narrow(0, 0, rows);
}

}  // namespace tutti
