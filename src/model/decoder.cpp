#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <stdexcept>

#include "model/ops.h"
#include "model/state.h"
#include "model/whisper.h"

namespace tutti {
namespace {

/// A decoder call laid out as rows, one per token.
struct Plan {
  std::vector<ops::SlotRows> sequences{};
  std::vector<std::int64_t> tokens{};     // per row
  std::vector<std::int64_t> positions{};  // per row
  std::vector<std::int64_t> wanted{};     // rows whose logits are asked for
};

void require(bool holds, const char* what, std::int64_t found) {
  if (!holds) throw std::invalid_argument("decode: " + std::string(what) + ", found " + std::to_string(found));
}

void add_sequence(Plan& plan, const SequenceStep& step, const WhisperDims& dims) {
  const auto first = static_cast<std::int64_t>(plan.tokens.size());
  const auto count = static_cast<std::int64_t>(step.tokens.size());
  require(count > 0, "a sequence appends at least one token", count);
  require(step.position >= 0 && step.position + count <= dims.n_text_ctx, "a sequence ends within n_text_ctx",
          step.position + count);
  require(step.window != nullptr, "a sequence has a window", 0);
  plan.sequences.push_back({step.slot, step.position, first, count});
  for (const auto token : step.tokens) {
    require(token >= 0 && token < dims.n_vocab, "tokens are below n_vocab", token);
    plan.positions.push_back(step.position + static_cast<std::int64_t>(plan.tokens.size()) - first);
    plan.tokens.push_back(token);
  }
  for (const auto at : step.logits_at) {
    require(at >= 0 && at < count, "logits_at names one of the tokens", at);
    plan.wanted.push_back(first + at);
  }
  if (step.logits_at.empty()) {
    for (std::int64_t row = first; row < first + count; ++row) plan.wanted.push_back(row);
  }
}

Plan make_plan(std::span<const SequenceStep> sequences, const WhisperDims& dims, const SelfKv& cache) {
  Plan plan;
  const auto slots = cache.keys.empty() ? 0 : cache.keys.front().size(0);
  for (const auto& step : sequences) {
    require(step.slot >= 0 && step.slot < slots, "slots are below the cache's number of slots", step.slot);
    add_sequence(plan, step, dims);
  }
  require(!plan.tokens.empty(), "at least one sequence is given", 0);
  return plan;
}

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
  const auto plan = make_plan(sequences, weights_->dims, cache);
  auto x = ops::embed(net.tokens, net.text_positions, plan.tokens, plan.positions);
  const std::int64_t n = weights_->dims.n_text_state;
  for (std::size_t layer = 0; layer < net.decoder.size(); ++layer) {
    const auto& block = net.decoder[layer];
    const auto qkv = ops::norm_linear(x, block.attn_norm, block.attn.joined);
    ops::append(cache.keys[layer], qkv.narrow(1, n, n), plan.sequences);
    ops::append(cache.values[layer], qkv.narrow(1, 2 * n, n), plan.sequences);
    const auto said = ops::slot_attention(qkv.narrow(1, 0, n), cache.keys[layer], cache.values[layer], plan.sequences);
    ops::add_linear(x, said, block.attn.out);

    const auto question = ops::norm_linear(x, block.cross_norm, block.cross.query);
    if (questions) questions->push_back(question);
    const auto heard = ops::cross_attention(question, windows_of(sequences, layer), plan.sequences);
    ops::add_linear(x, heard, block.cross.out);

    ops::add_mlp(x, block.mlp_norm, block.mlp_in, block.mlp_out);
  }
  if (plan.wanted.size() < plan.tokens.size()) x = ops::select_rows(x, plan.wanted);
  return ops::logits(x, net.decoder_norm, net.output, net.tokens);
}

}  // namespace tutti
