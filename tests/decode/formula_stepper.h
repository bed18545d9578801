#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "decode/formula_logits.h"
#include "decode/stepper.h"

namespace tutti {

/// A decoder whose logits depend on everything that a slot holds, so that a wrong slot, position or copy changes the
/// text. Where `whole_history` is off they depend on newest token and position alone, as in the golden script.
class FormulaStepper : public Stepper {
 public:
  FormulaStepper(std::int32_t slots, std::int64_t n_vocab, DecodingTokens tokens, bool whole_history)
      : held_(static_cast<std::size_t>(slots)),
        n_vocab_(n_vocab),
        tokens_(std::move(tokens)),
        whole_history_(whole_history) {}

  std::int32_t slots() const override { return static_cast<std::int32_t>(held_.size()); }

  at::Tensor decode(std::span<const SequenceStep> sequences) override {
    if (fails_next_) {
      fails_next_ = false;
      throw std::bad_alloc();
    }
    ++calls;
    std::int64_t rows = 0;
    for (const auto& sequence : sequences) {
      rows += static_cast<std::int64_t>((sequence.logits_at.empty() ? sequence.tokens : sequence.logits_at).size());
    }
    auto logits = at::empty({rows, n_vocab_}, at::kFloat);
    std::int64_t row = 0;
    for (const auto& sequence : sequences) {
      auto& held = held_.at(static_cast<std::size_t>(sequence.slot));
      if (static_cast<std::size_t>(sequence.position) > held.size()) throw std::logic_error("a gap in the cache");
      held.resize(static_cast<std::size_t>(sequence.position));
      for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
        held.push_back(sequence.tokens[i]);
        const auto& wanted = sequence.logits_at;
        const bool is_wanted = std::ranges::find(wanted, static_cast<std::int32_t>(i)) != wanted.end();
        if (wanted.empty() || is_wanted) fill(logits[row++], held, sequence.window);
      }
    }
    most_together = std::max(most_together, sequences.size());
    return logits;
  }

  void copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) override {
    const auto& source = held_.at(static_cast<std::size_t>(from));
    auto& target = held_.at(static_cast<std::size_t>(to));
    if (static_cast<std::size_t>(first) > target.size()) throw std::logic_error("a gap in the copied cache");
    target.resize(static_cast<std::size_t>(first));
    target.insert(target.end(), source.begin() + first, source.begin() + first + count);
    ++copies;
    copied_tokens += count;
  }

  void fail_next() { fails_next_ = true; }

  int calls = 0;
  int copies = 0;
  int copied_tokens = 0;
  std::size_t most_together = 0;

 private:
  void fill(const at::Tensor& row, const std::vector<std::int32_t>& held, const CrossKv* window) const {
    // The test names a window by how many layers its CrossKv has.
    std::uint64_t seed = window->layers.size();
    for (const auto token : held) seed = whole_history_ ? seed * 1000003 + static_cast<std::uint64_t>(token) : seed;
    formula_logits({row.data_ptr<float>(), static_cast<std::size_t>(n_vocab_)}, seed,
                   static_cast<std::int32_t>(held.size()) - 1, held.back(), tokens_);
  }

  std::vector<std::vector<std::int32_t>> held_;
  std::int64_t n_vocab_;
  DecodingTokens tokens_;
  bool whole_history_;
  bool fails_next_ = false;
};

/// A window that FormulaStepper identifies by `seed`.
inline std::shared_ptr<const CrossKv> formula_window(std::size_t seed) {
  auto window = std::make_shared<CrossKv>();
  window->layers.resize(seed);
  return window;
}

}  // namespace tutti
