#include "model/whisper.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "model/gpu/tf32.h"
#include "model/state.h"
#include "model/weights/load.h"
#include "model/weights/prepare.h"

namespace tutti {
namespace {

/// float32 means float32. A process computes in one type at a time, that of the network it has loaded last.
void round_products(at::Device device, ComputeType type) {
  if (device.is_cuda()) set_tf32(type == ComputeType::tf32);
}

/// The encoder's convolutions have one shape for good: cuDNN tries its kernels for it at the first window and keeps the
/// fastest. The setting is the process's, so a network over weights in training leaves it alone: batches there differ.
void tune_convolutions(at::Device device) {
  if (device.is_cuda()) at::globalContext().setBenchmarkCuDNN(true);
}

}  // namespace

Result<WhisperModel> WhisperModel::load(const std::filesystem::path& path, at::Device device, ComputeType type) {
  auto opened = open_checkpoint(path);
  if (!opened) return tl::unexpected(opened.error());
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(*opened));
  round_products(device, type);
  tune_convolutions(device);
  auto net = bind_weights(checkpoint);
  if (!net) return tl::unexpected(net.error());
  prepare(*net, type, device);
  return WhisperModel(std::make_unique<Weights>(
      Weights{checkpoint->shape.dims, device, type, layout_of(type, device), std::move(*net)}));
}

WhisperModel WhisperModel::random(const WhisperDims& dims, at::Device device, ComputeType type) {
  round_products(device, type);
  tune_convolutions(device);
  auto net = random_weights(openai_shape(dims));
  prepare(net, type, device);
  return WhisperModel(std::make_unique<Weights>(Weights{dims, device, type, layout_of(type, device), std::move(net)}));
}

WhisperModel WhisperModel::over(WhisperWeights weights, const WhisperDims& dims, at::Device device, ComputeType type) {
  round_products(device, type);
  prepare(weights, type, device);
  return WhisperModel(
      std::make_unique<Weights>(Weights{dims, device, type, layout_of(type, device), std::move(weights)}));
}

WhisperModel::WhisperModel(std::unique_ptr<Weights> weights) : weights_(std::move(weights)) {}
WhisperModel::WhisperModel(WhisperModel&&) noexcept = default;
WhisperModel& WhisperModel::operator=(WhisperModel&&) noexcept = default;
WhisperModel::~WhisperModel() = default;

const WhisperDims& WhisperModel::dims() const {
  return weights_->dims;
}
at::Device WhisperModel::device() const {
  return weights_->device;
}
ComputeType WhisperModel::type() const {
  return weights_->type;
}

SelfKv WhisperModel::make_self_kv(std::int32_t slots) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  SelfKv cache;
  cache.whole = at::empty({2 * d.n_text_layer, slots, d.n_text_head, d.n_text_ctx, d.n_text_state / d.n_text_head},
                          at::TensorOptions(weights_->layout.cache).device(weights_->device));
  for (std::int32_t layer = 0; layer < d.n_text_layer; ++layer) {
    cache.keys.push_back(cache.whole.select(0, 2 * layer));
    cache.values.push_back(cache.whole.select(0, 2 * layer + 1));
  }
  return cache;
}

}  // namespace tutti
