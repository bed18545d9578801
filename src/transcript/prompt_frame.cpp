#include "transcript/prompt_frame.h"

#include <algorithm>

#include "base/field_names.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

using Tokens = std::vector<std::int32_t>;

Tokens sot_sequence_of(const Tokenizer& tokenizer, const LongFormOptions& options, const std::string& language) {
  const SpecialTokens& special = tokenizer.special();
  return tokenizer.sot_sequence(language, options.translate ? special.translate : special.transcribe);
}

Tokens tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  const std::string_view bare = strip(text);
  if (bare.empty()) return {};
  return tokenizer.encode(" " + std::string(bare));
}

void append(Tokens& tokens, std::span<const std::int32_t> more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

/// Sampled in a window at most; 0 means the default too, as in the reference.
std::int32_t most_tokens(const LongFormOptions& options, std::int32_t n_text_ctx) {
  return options.sample_len.value_or(0) > 0 ? *options.sample_len : n_text_ctx / 2;
}

}  // namespace

PromptFrame::PromptFrame(const Tokenizer& tokenizer, const LongFormOptions& options, const std::string& language,
                         std::int32_t n_text_ctx)
    : n_text_ctx_(n_text_ctx),
      max_tokens_(most_tokens(options, n_text_ctx)),
      sot_prev_(tokenizer.special().sot_prev),
      sot_sequence_(sot_sequence_of(tokenizer, options, language)),
      behind_(sot_sequence_) {
  if (options.without_timestamps) behind_.push_back(tokenizer.special().no_timestamps);
  // The reference keeps the last n_text_ctx / 2 - max_tokens, which by default is 0 and means all.
  const Tokens prefix = tokens_of(tokenizer, options.prefix);
  append(prefix_, last_of(prefix, n_text_ctx / 2 - max_tokens_));
  append(behind_, prefix_);
  if (!prefix_.empty()) return;
  hot_words_ = tokens_of(tokenizer, options.hot_words);
  hot_words_.resize(std::min(hot_words_.size(), static_cast<std::size_t>(n_text_ctx / 2 - 1)));
}

Result<DecodeRequest> PromptFrame::request_after(std::span<const std::int32_t> previous) const {
  previous = fitting(previous);
  DecodeRequest request{.max_tokens = max_tokens_};
  if (!previous.empty() || !hot_words_.empty()) {
    request.prompt.push_back(sot_prev_);
    append(request.prompt, hot_words_);
    append(request.prompt, previous);
  }
  request.sot_index = static_cast<std::int32_t>(request.prompt.size());
  append(request.prompt, behind_);
  if (request.prompt.size() < static_cast<std::size_t>(n_text_ctx_)) return request;
  return fail(Fault::usage, field("prefix") + ": its " + std::to_string(prefix_.size()) +
                                " tokens leave no space for an answer in the model's " + std::to_string(n_text_ctx_));
}

/// Where all parts together are longer than the text context (the peers fail there), previous text gets what hot words
/// and prefix leave of the half that is for prompts.
std::span<const std::int32_t> PromptFrame::fitting(std::span<const std::int32_t> previous) const {
  if (1 + hot_words_.size() + previous.size() + behind_.size() < static_cast<std::size_t>(n_text_ctx_)) return previous;
  const auto capacity = static_cast<std::size_t>(n_text_ctx_ / 2 - 1);
  const std::size_t taken = std::min(capacity, hot_words_.size() + prefix_.size());
  return previous.last(std::min(previous.size(), capacity - taken));
}

std::int32_t positions_without_history(const LongFormOptions& options, std::int32_t n_text_ctx) {
  constexpr std::int64_t kSotSequence = 4, kSpace = 1, kMultiple = 8;  // sot, language, task, no_timestamps
  const auto most_of = [](const std::string& text) {
    return text.empty() ? 0 : static_cast<std::int64_t>(text.size()) + kSpace;
  };
  const std::int64_t half = n_text_ctx / 2 - 1;  // what previous text and hot words are cut to
  const std::int64_t before =
      std::min(half, most_of(options.initial_prompt)) + std::min(half, most_of(options.hot_words));
  const std::int64_t prompt = (before > 0 ? before + 1 : 0) + kSotSequence + most_of(options.prefix);  // + sot_prev
  const std::int64_t needed = prompt + most_tokens(options, n_text_ctx);
  return static_cast<std::int32_t>(
      std::min<std::int64_t>((needed + kMultiple - 1) / kMultiple * kMultiple, n_text_ctx));
}

}  // namespace tutti
