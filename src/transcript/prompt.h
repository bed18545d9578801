#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace tutti {

/// The initial prompt as the reference encodes it: a space, then the text without the whitespace around it. An empty
/// one gives no tokens.
std::vector<std::int32_t> initial_prompt_tokens(const Tokenizer& tokenizer, std::string_view initial_prompt);

/// The text decoded so far, and how much of it leads the next window's prompt.
class PromptHistory {
 public:
  /// `initial`: tokens of the initial prompt; `carried`: they lead every prompt instead of the first only.
  PromptHistory(std::vector<std::int32_t> initial, bool carried, std::int32_t n_text_ctx);

  /// Previous text for the next request: the last n_text_ctx / 2 - 1 tokens at most.
  std::vector<std::int32_t> next() const;

  void append(std::span<const std::int32_t> tokens) { all_.insert(all_.end(), tokens.begin(), tokens.end()); }

  /// No text up to now goes into later prompts (a carried initial prompt still does).
  void forget() { forgotten_ = all_.size(); }

  /// All decoded tokens, without the initial prompt.
  std::span<const std::int32_t> decoded() const { return std::span(all_).subspan(initial_); }

 private:
  std::vector<std::int32_t> all_;  // initial prompt, then the decoded text
  std::size_t initial_;
  std::size_t forgotten_ = 0;
  bool carried_;
  std::int64_t capacity_;
};

}  // namespace tutti
