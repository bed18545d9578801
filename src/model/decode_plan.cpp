#include "model/decode_plan.h"

#include <stdexcept>
#include <string>

namespace tutti {
namespace {

void require(bool holds, const char* what, std::int64_t found) {
  if (!holds) throw std::invalid_argument("decode: " + std::string(what) + ", found " + std::to_string(found));
}

void add_sequence(DecodePlan& plan, const SequenceStep& step, const WhisperDims& dims) {
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

}  // namespace

DecodePlan plan_decoding(std::span<const SequenceStep> sequences, const WhisperDims& dims, std::int64_t slots) {
  DecodePlan plan;
  for (const auto& step : sequences) {
    require(step.slot >= 0 && step.slot < slots, "slots are below the cache's number of slots", step.slot);
    add_sequence(plan, step, dims);
  }
  require(!plan.tokens.empty(), "at least one sequence is given", 0);
  return plan;
}

}  // namespace tutti
