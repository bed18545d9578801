#include "decode/alignment/aligner.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "decode/alignment/attention_map.h"
#include "model/ops.h"

namespace tutti {
namespace {

tl::unexpected<Error> refuse(const std::string& what) {
  return fail(Fault::usage, "align request: " + what);
}

/// The whole sequence, and where what concerns the text begins in it.
struct ForcedText {
  std::vector<std::int32_t> tokens{};
  std::size_t first = 0;  // row that predicts the first text token
};

ForcedText forced(const AlignmentText& text, const DecodingTokens& tokens) {
  ForcedText all{.tokens = text.sot_sequence};
  if (tokens.no_timestamps) all.tokens.push_back(*tokens.no_timestamps);
  all.first = all.tokens.size() - 1;
  all.tokens.insert(all.tokens.end(), text.text.begin(), text.text.end());
  all.tokens.push_back(tokens.eot);
  return all;
}

/// Rows that predict a text token.
std::vector<std::int32_t> predicting(std::size_t first, std::size_t count) {
  std::vector<std::int32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::int32_t>(first + i);
  // An empty text predicts nothing, but no rows would mean all of them.
  if (rows.empty()) rows.push_back(static_cast<std::int32_t>(first));
  return rows;
}

std::vector<float> chances(const at::Tensor& logits, const std::vector<std::int32_t>& text, std::int32_t eot) {
  if (text.empty()) return {};
  const auto count = static_cast<std::int64_t>(text.size());
  const auto target_tokens = at::tensor(text, at::kLong).to(logits.device()).unsqueeze(1);
  const auto found = logits.narrow(1, 0, eot).softmax(1).gather(1, target_tokens).to(at::kCPU).contiguous();
  const auto* values = found.const_data_ptr<float>();
  return {values, values + count};
}

/// Softmax over the window's positions, then every position's mean over the tokens removed and its spread made one.
/// scores: [heads, tokens, positions].
at::Tensor normalised(const at::Tensor& scores) {
  const auto weights = scores.softmax(-1);
  const auto [spread, mean] = at::std_mean(weights, /*dim=*/at::IntArrayRef{-2}, /*unbiased=*/false, /*keepdim=*/true);
  // Where all tokens look alike the reference divides zero by zero; that position has no information, so it counts as
  // zero.
  return ((weights - mean) / spread).nan_to_num(0.0, 0.0, 0.0);
}

}  // namespace

Result<void> check(const AlignmentText& text, const DecodingTokens& tokens, const WhisperDims& dims) {
  if (text.sot_sequence.empty()) return refuse("sot_sequence is empty");
  const auto foreign = [&](std::int32_t id) { return id < 0 || id >= dims.n_vocab; };
  if (const auto bad = std::ranges::find_if(text.sot_sequence, foreign); bad != text.sot_sequence.end()) {
    return refuse("sot_sequence holds token " + std::to_string(*bad) + ", the vocabulary has " +
                  std::to_string(dims.n_vocab));
  }
  const auto no_text = [&](std::int32_t id) { return id < 0 || id >= tokens.eot; };
  if (const auto bad = std::ranges::find_if(text.text, no_text); bad != text.text.end()) {
    return refuse("text_tokens holds token " + std::to_string(*bad) + ", text ends below " +
                  std::to_string(tokens.eot));
  }
  const auto length = static_cast<std::int64_t>(forced(text, tokens).tokens.size());
  if (length > dims.n_text_ctx) {
    return refuse("the text makes " + std::to_string(length) + " tokens with what belongs around it, " +
                  std::to_string(dims.n_text_ctx) + " fit");
  }
  if (text.frames < 2 || text.frames > 2 * dims.n_audio_ctx) {
    return refuse("frames must be 2 to " + std::to_string(2 * dims.n_audio_ctx) + ", found " +
                  std::to_string(text.frames));
  }
  return {};
}

Aligner::Aligner(const WhisperModel& model, std::vector<AttentionHead> heads)
    : model_(model), heads_(std::move(heads)) {}

Result<TokenTimes> Aligner::align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) {
  const c10::InferenceMode no_autograd;
  if (!cache_) cache_ = model_.make_self_kv(1);
  const auto all = forced(text, tokens);
  const auto wanted = predicting(all.first, text.text.size());
  const SequenceStep pass{.tokens = all.tokens, .window = &window, .logits_at = wanted};
  std::vector<at::Tensor> questions;
  const auto logits = model_.decode(std::span(&pass, 1), *cache_, &questions);

  TokenTimes alignment{.probabilities = chances(logits, text.text, tokens.eot)};
  if (std::ranges::any_of(alignment.probabilities, [](float p) { return std::isnan(p); })) {
    return fail(Fault::device, "alignment: the model's output is not a number", "Try --compute-type float32");
  }
  const auto positions = text.frames / 2;
  AttentionMap map(text.text.size() + 1, static_cast<std::size_t>(positions));
  for (auto head = heads_.begin(); head != heads_.end();) {
    std::vector<std::int64_t> chosen;
    const auto layer = static_cast<std::size_t>(head->layer);
    for (; head != heads_.end() && static_cast<std::size_t>(head->layer) == layer; ++head) chosen.push_back(head->head);
    const auto scores = ops::attention_scores(questions[layer], window.layers[layer], positions, chosen);
    const auto rows = normalised(scores).narrow(1, static_cast<std::int64_t>(all.first), std::ssize(text.text) + 1);
    const auto here = rows.to(at::kCPU).contiguous();
    map.add({here.const_data_ptr<float>(), static_cast<std::size_t>(here.numel())});
  }
  alignment.starts = map.starts();
  return alignment;
}

}  // namespace tutti
