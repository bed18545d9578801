#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <stdexcept>

#include "model/ops.h"
#include "model/state.h"
#include "model/whisper.h"

namespace tutti {
namespace {

void run_block(at::Tensor& x, const BlockWeights& block, std::int64_t heads, at::ScalarType cache) {
  const auto seen = ops::window_attention(ops::norm_linear(x, block.attn_norm, block.attn.joined), heads, cache);
  ops::add_linear(x, seen, block.attn.out);
  ops::add_mlp(x, block.mlp_norm, block.mlp_in, block.mlp_out);
}

}  // namespace

at::Tensor WhisperModel::encode(const at::Tensor& mel) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  const auto& net = weights_->net;
  if (mel.dim() != 2 || mel.size(0) != d.n_mels || mel.size(1) != 2 * std::int64_t{d.n_audio_ctx}) {
    throw std::invalid_argument("encode: expected a mel of [" + std::to_string(d.n_mels) + ", " +
                                std::to_string(2 * d.n_audio_ctx) + "]");
  }
  // From pinned memory a copy to a GPU is enqueued like everything else; together with another type it is not, because
  // torch converts on the host, into memory that is not pinned.
  const auto from = weights_->device.is_cuda() ? mel.pin_memory() : mel;
  const auto input = from.to(weights_->device, /*non_blocking=*/true).to(weights_->layout.activations);
  auto x = ops::convolve(input, net.conv1, net.conv2, net.audio_positions);
  for (const auto& block : net.encoder) run_block(x, block, d.n_audio_head, weights_->layout.cache);
  return ops::layer_norm(x, net.encoder_norm);
}

CrossKv WhisperModel::cross_kv(const at::Tensor& encoded) const {
  const c10::InferenceMode guard;
  const auto& d = weights_->dims;
  CrossKv window;
  for (const auto& block : weights_->net.decoder) {
    window.layers.push_back(ops::keep_cross(ops::linear(encoded, block.cross.joined), d.n_text_head, weights_->layout));
  }
  return window;
}

}  // namespace tutti
