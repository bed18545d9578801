#include "transcript/prompt.h"

#include <algorithm>
#include <string>

#include "transcript/like_python.h"

namespace tutti {
namespace {

using Tokens = std::span<const std::int32_t>;

}  // namespace

std::vector<std::int32_t> initial_prompt_tokens(const Tokenizer& tokenizer, std::string_view initial_prompt) {
  if (initial_prompt.empty()) return {};
  return tokenizer.encode(" " + std::string(strip(initial_prompt)));
}

PromptHistory::PromptHistory(std::vector<std::int32_t> initial, bool carried, std::int32_t n_text_ctx)
    : all_(std::move(initial)), initial_(all_.size()), carried_(carried), capacity_(n_text_ctx / 2 - 1) {}

std::vector<std::int32_t> PromptHistory::next() const {
  const Tokens all(all_);
  if (!carried_) {
    const Tokens last = last_of(all.subspan(forgotten_), capacity_);
    return {last.begin(), last.end()};
  }
  const Tokens rest =
      last_of(all.subspan(std::max(initial_, forgotten_)), capacity_ - static_cast<std::int64_t>(initial_));
  std::vector<std::int32_t> prompt(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(initial_));
  prompt.insert(prompt.end(), rest.begin(), rest.end());
  const Tokens last = last_of(prompt, capacity_);
  return {last.begin(), last.end()};
}

}  // namespace tutti
