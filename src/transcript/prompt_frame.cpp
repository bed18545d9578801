#include "transcript/prompt_frame.h"

#include <algorithm>

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

}  // namespace

PromptFrame::PromptFrame(const Tokenizer& tokenizer, const LongFormOptions& options, const std::string& language,
                         std::int32_t n_text_ctx)
    : n_text_ctx_(n_text_ctx),
      // 0 means the default too, as in the reference.
      max_tokens_(options.sample_len.value_or(0) > 0 ? *options.sample_len : n_text_ctx / 2),
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
  return fail(Fault::usage, "--prefix: its " + std::to_string(prefix_.size()) +
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

}  // namespace tutti
