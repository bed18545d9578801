#include "train/whisper/network/forward.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

at::Tensor norm(const at::Tensor& x, const ops::Norm& layer) {
  return at::layer_norm(x, layer.weight.sizes(), layer.weight, layer.bias);
}

at::Tensor apply(const at::Tensor& x, const ops::Linear& layer) {
  return at::linear(x, layer.weight, layer.bias);
}

at::Tensor dropped(const at::Tensor& x, double share) {
  return share > 0 ? at::dropout(x, share, /*train=*/true) : x;
}

/// [batch, length, n] -> [batch, heads, length, n / heads].
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}

/// Every position of `query` over those of `from`; with `causal`, over none behind itself.
at::Tensor attend(const at::Tensor& query, const at::Tensor& from, const AttentionWeights& layer, std::int64_t heads,
                  bool causal) {
  const auto seen = at::scaled_dot_product_attention(
      by_head(apply(query, layer.query), heads), by_head(apply(from, layer.key), heads),
      by_head(apply(from, layer.value), heads), std::nullopt, /*dropout_p=*/0.0, causal);
  return apply(seen.transpose(1, 2).flatten(2), layer.out);
}

at::Tensor with_mlp(const at::Tensor& x, const BlockWeights& block, double dropout) {
  return x + dropped(apply(at::gelu(apply(norm(x, block.mlp_norm), block.mlp_in)), block.mlp_out), dropout);
}

at::Tensor encoder_block(const at::Tensor& x, const BlockWeights& block, std::int64_t heads, double dropout) {
  const auto y = norm(x, block.attn_norm);
  return with_mlp(x + dropped(attend(y, y, block.attn, heads, false), dropout), block, dropout);
}

/// Where head 0 looks: [batch, length, positions], logarithms.
at::Tensor first_head(const at::Tensor& query, const at::Tensor& from, const AttentionWeights& layer,
                      std::int64_t heads) {
  const auto width = query.size(2) / heads;
  const auto own = [&](const at::Tensor& x, const ops::Linear& all) {
    return at::linear(x, all.weight.narrow(0, 0, width), all.bias.defined() ? all.bias.narrow(0, 0, width) : all.bias);
  };
  const auto scores = own(query, layer.query).matmul(own(from, layer.key).transpose(1, 2));
  return (scores.to(at::kFloat) / std::sqrt(static_cast<double>(width))).log_softmax(2);
}

at::Tensor decoder_block(const at::Tensor& x, const at::Tensor& context, const BlockWeights& block, std::int64_t heads,
                         double dropout, std::vector<at::Tensor>* watched) {
  const auto y = norm(x, block.attn_norm);
  const auto self_attended = x + dropped(attend(y, y, block.attn, heads, true), dropout);
  const auto query = norm(self_attended, block.cross_norm);
  if (watched) watched->push_back(first_head(query, context, block.cross, heads));
  const auto cross_attended = self_attended + dropped(attend(query, context, block.cross, heads, false), dropout);
  return with_mlp(cross_attended, block, dropout);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

at::Tensor encode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& mel,
                  const ForwardOptions& options) {
  require(mel.dim() == 3 && mel.size(1) == dims.n_mels && mel.size(2) % 2 == 0 && mel.size(2) <= 2 * dims.n_audio_ctx,
          "encode: a mel batch of " + std::to_string(mel.size(1)) + " x " + std::to_string(mel.size(2)) +
              " does not fit the network");
  auto x = at::gelu(at::conv1d(mel, weights.conv1.weight, weights.conv1.bias, /*stride=*/1, /*padding=*/1));
  x = at::gelu(at::conv1d(x, weights.conv2.weight, weights.conv2.bias, /*stride=*/2, /*padding=*/1));
  // Rows side by side from here on: a sum keeps its first operand's strides, and every layer would copy.
  x = dropped(x.transpose(1, 2).contiguous() + weights.audio_positions.narrow(0, 0, mel.size(2) / 2), options.dropout);
  for (const auto& block : weights.encoder) {
    // Holds the block's tensors: it may run again when the caller's weights are gone.
    const auto run = [block, heads = dims.n_audio_head, share = options.dropout](const at::Tensor& input) {
      return encoder_block(input, block, heads, share);
    };
    x = through_block(x, run, options.recompute);
  }
  return norm(x, weights.encoder_norm);
}

at::Tensor decode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& tokens,
                  const at::Tensor& context, const ForwardOptions& options, std::vector<at::Tensor>* watched) {
  require(tokens.size(1) <= dims.n_text_ctx, "decode: " + std::to_string(tokens.size(1)) + " tokens, the network has " +
                                                 std::to_string(dims.n_text_ctx) + " positions");
  auto x = at::embedding(weights.tokens, tokens) + weights.text_positions.narrow(0, 0, tokens.size(1));
  x = dropped(x, options.dropout);
  for (const auto& block : weights.decoder) {
    const auto run = [block, heads = dims.n_text_head, share = options.dropout, watched](const at::Tensor& input,
                                                                                         const at::Tensor& window) {
      return decoder_block(input, window, block, heads, share, watched);
    };
    x = through_block(x, context, run, options.recompute && !watched);
  }
  return at::linear(norm(x, weights.decoder_norm), weights.tokens);
}

}  // namespace tutti
