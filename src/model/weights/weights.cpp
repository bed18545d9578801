#include "model/weights/weights.h"

#include <ATen/core/Tensor.h>

namespace tutti {
namespace {

/// Collects slots under a growing name prefix.
class Slots {
 public:
  void tensor(std::string name, std::vector<std::int64_t> shape, at::Tensor& at) {
    slots_.push_back({std::move(name), std::move(shape), &at});
  }
  void linear(const std::string& name, std::int64_t in, std::int64_t out, ops::Linear& layer, bool bias = true) {
    tensor(name + ".weight", {out, in}, layer.weight);
    if (bias) tensor(name + ".bias", {out}, layer.bias);
  }
  void norm(const std::string& name, std::int64_t n, ops::Norm& norm) {
    tensor(name + ".weight", {n}, norm.weight);
    tensor(name + ".bias", {n}, norm.bias);
  }
  void conv(const std::string& name, std::int64_t in, std::int64_t out, ops::Conv& conv) {
    tensor(name + ".weight", {out, in, 3}, conv.weight);
    tensor(name + ".bias", {out}, conv.bias);
  }
  void attention(const std::string& name, std::int64_t n, AttentionWeights& attention) {
    linear(name + ".query", n, n, attention.query);
    linear(name + ".key", n, n, attention.key, /*bias=*/false);
    linear(name + ".value", n, n, attention.value);
    linear(name + ".out", n, n, attention.out);
  }
  void block(const std::string& name, std::int64_t n, std::int64_t mlp, bool cross, BlockWeights& block) {
    norm(name + ".attn_ln", n, block.attn_norm);
    attention(name + ".attn", n, block.attn);
    if (cross) {
      norm(name + ".cross_attn_ln", n, block.cross_norm);
      attention(name + ".cross_attn", n, block.cross);
    }
    norm(name + ".mlp_ln", n, block.mlp_norm);
    linear(name + ".mlp.0", n, mlp, block.mlp_in);
    linear(name + ".mlp.2", mlp, n, block.mlp_out);
  }
  std::vector<WeightSlot> take() { return std::move(slots_); }

 private:
  std::vector<WeightSlot> slots_;
};

}  // namespace

std::vector<WeightSlot> weight_slots(WhisperWeights& weights, const WhisperShape& shape) {
  const auto& d = shape.dims;
  weights.encoder.resize(static_cast<std::size_t>(d.n_audio_layer));
  weights.decoder.resize(static_cast<std::size_t>(d.n_text_layer));
  Slots slots;
  slots.conv("encoder.conv1", d.n_mels, d.n_audio_state, weights.conv1);
  slots.conv("encoder.conv2", d.n_audio_state, d.n_audio_state, weights.conv2);
  slots.tensor("encoder.positional_embedding", {d.n_audio_ctx, d.n_audio_state}, weights.audio_positions);
  for (std::size_t i = 0; i < weights.encoder.size(); ++i) {
    slots.block("encoder.blocks." + std::to_string(i), d.n_audio_state, shape.audio_mlp, false, weights.encoder[i]);
  }
  slots.norm("encoder.ln_post", d.n_audio_state, weights.encoder_norm);
  slots.tensor("decoder.token_embedding.weight", {d.n_vocab, d.n_text_state}, weights.tokens);
  slots.tensor("decoder.positional_embedding", {d.n_text_ctx, d.n_text_state}, weights.text_positions);
  for (std::size_t i = 0; i < weights.decoder.size(); ++i) {
    slots.block("decoder.blocks." + std::to_string(i), d.n_text_state, shape.text_mlp, true, weights.decoder[i]);
  }
  slots.norm("decoder.ln", d.n_text_state, weights.decoder_norm);
  return slots.take();
}

}  // namespace tutti
