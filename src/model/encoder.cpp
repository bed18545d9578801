#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <stdexcept>

#include "model/ops.h"
#include "model/state.h"
#include "model/whisper.h"

namespace tutti {
namespace {

void run_block(at::Tensor& x, const BlockWeights& block, std::int64_t heads) {
  const auto h = ops::layer_norm(x, block.attn_norm);
  const auto seen = ops::window_attention(ops::linear(h, block.attn.query), ops::linear(h, block.attn.key),
                                          ops::linear(h, block.attn.value), heads);
  ops::add(x, ops::linear(seen, block.attn.out));
  ops::add(x, ops::linear(ops::linear_gelu(ops::layer_norm(x, block.mlp_norm), block.mlp_in), block.mlp_out));
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
  const auto input = mel.to(weights_->device, weights_->dtype, /*non_blocking=*/true);
  const auto heard = ops::conv_gelu(ops::conv_gelu(input, net.conv1, 1), net.conv2, 2);
  auto x = ops::transpose_and_add(heard, net.audio_positions);
  for (const auto& block : net.encoder) run_block(x, block, d.n_audio_head);
  return ops::layer_norm(x, net.encoder_norm);
}

CrossKv WhisperModel::cross_kv(const at::Tensor& encoded) const {
  const c10::InferenceMode guard;
  CrossKv window;
  for (const auto& block : weights_->net.decoder) {
    window.keys.push_back(ops::split_heads(ops::linear(encoded, block.cross.key), weights_->dims.n_text_head));
    window.values.push_back(ops::split_heads(ops::linear(encoded, block.cross.value), weights_->dims.n_text_head));
  }
  return window;
}

}  // namespace tutti
