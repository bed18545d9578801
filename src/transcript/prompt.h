#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tutti {

/// What was said so far, and how much of it the model is told before the next window.
class PromptHistory {
 public:
  /// `initial`: tokens of the initial prompt; `carried`: they lead every prompt instead of the first only.
  PromptHistory(std::vector<std::int32_t> initial, bool carried, std::int32_t n_text_ctx);

  /// Previous text for the next request: the last n_text_ctx / 2 - 1 tokens at most.
  std::vector<std::int32_t> next() const;

  void append(std::span<const std::int32_t> tokens) { all_.insert(all_.end(), tokens.begin(), tokens.end()); }

  /// Nothing said up to now goes into later prompts (a carried initial prompt still does).
  void forget() { forgotten_ = all_.size(); }

  /// All tokens said, without the initial prompt.
  std::span<const std::int32_t> said() const { return std::span(all_).subspan(initial_); }

 private:
  std::vector<std::int32_t> all_;  // initial prompt, then what was said
  std::size_t initial_;
  std::size_t forgotten_ = 0;
  bool carried_;
  std::int64_t room_;
};

/// What every window is taken to begin with: the tokens of `text` behind the sot sequence (openai-whisper's
/// DecodingOptions.prefix). Of them the last n_text_ctx / 2 - max_tokens stay; where that is 0, as by default, all do.
std::vector<std::int32_t> prefix_tokens(const Tokenizer& tokenizer, std::string_view text, std::int32_t n_text_ctx,
                                        std::int32_t max_tokens);

/// Words that lead every prompt, behind sot_prev and before the text said so far: the first n_text_ctx / 2 - 1 tokens
/// of `text` (faster-whisper's get_prompt).
std::vector<std::int32_t> hot_word_tokens(const Tokenizer& tokenizer, std::string_view text, std::int32_t n_text_ctx);

/// `previous`, if it, `fixed` tokens of hot words and prefix, sot_prev and `sot` more are fewer than the text context;
/// else its end that fits into n_text_ctx / 2 - 1 tokens beside the fixed ones.
std::span<const std::int32_t> previous_that_fits(std::span<const std::int32_t> previous, std::size_t fixed,
                                                 std::size_t sot, std::int32_t n_text_ctx);

}  // namespace tutti
