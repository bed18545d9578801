#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <optional>

#include "model/cpu/compute_team.h"
#include "model/decode_plan.h"
#include "model/ops.h"
#include "model/state.h"
#include "model/whisper.h"

namespace tutti {
namespace {

/// What the windows keep of one layer, per sequence.
std::vector<const CrossLayer*> windows_of(std::span<const SequenceStep> sequences, std::size_t layer) {
  std::vector<const CrossLayer*> windows;
  for (const auto& step : sequences) windows.push_back(&step.window->layers.at(layer));
  return windows;
}

}  // namespace

at::Tensor WhisperModel::decode(std::span<const SequenceStep> sequences, SelfKv& cache,
                                std::vector<at::Tensor>* questions) const {
  const c10::InferenceMode guard;
  const auto& net = weights_->net;
  const auto plan = plan_decoding(sequences, weights_->dims, cache.slots());
  std::optional<StepThreads> threads;
  if (weights_->layout.own_kernels) threads.emplace(static_cast<std::int64_t>(plan.tokens.size()));
  auto x = ops::embed(net.tokens, net.text_positions, plan.tokens, plan.positions);
  const std::int64_t n = weights_->dims.n_text_state;
  for (std::size_t layer = 0; layer < net.decoder.size(); ++layer) {
    const auto& block = net.decoder[layer];
    const auto qkv = ops::norm_linear(x, block.attn_norm, block.attn.joined);
    ops::append(cache.keys[layer], qkv.narrow(1, n, n), plan.sequences);
    ops::append(cache.values[layer], qkv.narrow(1, 2 * n, n), plan.sequences);
    const auto self_attention_out =
        ops::slot_attention(qkv.narrow(1, 0, n), cache.keys[layer], cache.values[layer], plan.sequences);
    ops::add_linear(x, self_attention_out, block.attn.out);

    const auto query = ops::norm_linear(x, block.cross_norm, block.cross.query);
    if (questions) questions->push_back(query);
    const auto context = ops::cross_attention(query, windows_of(sequences, layer), plan.sequences);
    ops::add_linear(x, context, block.cross.out);

    ops::add_mlp(x, block.mlp_norm, block.mlp_in, block.mlp_out);
  }
  if (plan.wanted.size() < plan.tokens.size()) x = ops::select_rows(x, plan.wanted);
  return ops::logits(x, net.decoder_norm, net.output, net.tokens);
}

}  // namespace tutti
