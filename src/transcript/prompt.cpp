#include "transcript/prompt.h"

#include <algorithm>

#include "transcript/like_python.h"

namespace tutti {
namespace {

using Tokens = std::span<const std::int32_t>;

/// Python's tokens[-count:], which the reference relies on: a count of 0 takes everything, and a negative one leaves
/// out that many from the front. Both happen where the initial prompt fills the room for prompts.
Tokens python_tail(Tokens tokens, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(tokens.size());
  const std::int64_t from = count > 0 ? std::max<std::int64_t>(size - count, 0) : std::min(-count, size);
  return tokens.subspan(static_cast<std::size_t>(from));
}

/// Tokens of a text that stands in a prompt; none of a blank one.
std::vector<std::int32_t> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  const std::string_view bare = strip(text);
  if (bare.empty()) return {};
  return tokenizer.encode(" " + std::string(bare));
}

}  // namespace

PromptHistory::PromptHistory(std::vector<std::int32_t> initial, bool carried, std::int32_t n_text_ctx)
    : all_(std::move(initial)), initial_(all_.size()), carried_(carried), room_(n_text_ctx / 2 - 1) {}

std::vector<std::int32_t> PromptHistory::next() const {
  const Tokens all(all_);
  if (!carried_) {
    const Tokens last = python_tail(all.subspan(forgotten_), room_);
    return {last.begin(), last.end()};
  }
  const Tokens rest =
      python_tail(all.subspan(std::max(initial_, forgotten_)), room_ - static_cast<std::int64_t>(initial_));
  std::vector<std::int32_t> prompt(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(initial_));
  prompt.insert(prompt.end(), rest.begin(), rest.end());
  const Tokens last = python_tail(prompt, room_);
  return {last.begin(), last.end()};
}

std::vector<std::int32_t> prefix_tokens(const Tokenizer& tokenizer, std::string_view text, std::int32_t n_text_ctx,
                                        std::int32_t max_tokens) {
  const auto all = tokens_of(tokenizer, text);
  const Tokens kept = python_tail(all, n_text_ctx / 2 - max_tokens);
  return {kept.begin(), kept.end()};
}

std::vector<std::int32_t> hot_word_tokens(const Tokenizer& tokenizer, std::string_view text, std::int32_t n_text_ctx) {
  auto tokens = tokens_of(tokenizer, text);
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(n_text_ctx / 2 - 1)));
  return tokens;
}

Tokens previous_that_fits(Tokens previous, std::size_t fixed, std::size_t sot, std::int32_t n_text_ctx) {
  if (1 + fixed + previous.size() + sot < static_cast<std::size_t>(n_text_ctx)) return previous;
  const auto room = static_cast<std::size_t>(n_text_ctx / 2 - 1);
  return previous.last(std::min(previous.size(), room - std::min(room, fixed)));
}

}  // namespace tutti
