#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "text/tokenizer.h"

namespace tutti {

/// The decoder's input and targets for one sample: `targets[i]` is what should come after `decoder_input[i]`. A text is
/// [sot, language, task, no-timestamps] text eot; with times <|start|> text <|end|> for each stretch instead of
/// no-timestamps. Silence has the target no-speech after sot and eot at once behind the rest.
struct LabelRow {
  std::vector<std::int32_t> decoder_input{};
  std::vector<std::int32_t> targets{};
};

/// What a text is begun with: [sot, language, task] of a multilingual vocabulary, else [sot] alone. Fault::usage for a
/// language that it does not know.
Result<std::vector<std::int32_t>> start_of_text(const Tokenizer& tokenizer, const std::string& language,
                                                bool translate);

/// How texts become labels.
struct LabelRules {
  std::string language = "en";
  bool translate = false;
  double timestamps = 0;     // share of the samples with times, drawn by id
  bool morse_marks = false;  // field note 004's: <|morse|> before a text, <|noise|> in place of none
  std::uint64_t seed = 0;
  std::int32_t n_text_ctx = 448;
  std::int32_t n_vocab = 0;
};

/// Texts as the decoder's input and targets. Immutable, thread-safe.
class Labels {
 public:
  /// Fault::usage for a language that the tokenizer does not know.
  static Result<Labels> make(Tokenizer tokenizer, LabelRules rules);

  /// `epoch` makes another draw of whether the sample has times. Fault::corrupt where the text does not fit the text
  /// context.
  Result<LabelRow> row(const BatchSample& sample, std::int64_t epoch) const;

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const LabelRules& rules() const { return rules_; }
  /// start_of_text by the rules.
  const std::vector<std::int32_t>& sot_sequence() const { return sot_sequence_; }

 private:
  Labels(Tokenizer tokenizer, LabelRules rules, std::vector<std::int32_t> sot_sequence)
      : tokenizer_(std::move(tokenizer)), rules_(std::move(rules)), sot_sequence_(std::move(sot_sequence)) {}
  std::int32_t time_token(double seconds) const;
  std::string marked(const std::string& text) const;
  void append_text(std::vector<std::int32_t>& row, const std::string& text) const;
  void append_timed(std::vector<std::int32_t>& row, const BatchSample& sample) const;

  Tokenizer tokenizer_;
  LabelRules rules_;
  std::vector<std::int32_t> sot_sequence_;
};

/// Rows as tensors: decoder_input and targets are [rows, longest] int64 on the CPU; behind a row's end `decoder_input`
/// is eot and `targets` kIgnoredTarget.
struct LabelTensors {
  at::Tensor decoder_input{};
  at::Tensor targets{};
};
inline constexpr std::int64_t kIgnoredTarget = -100;
LabelTensors label_tensors(const std::vector<LabelRow>& rows, std::int32_t eot);

/// The rows' text alone, for CtcHead: `tokens` [rows, longest] int64, 0 behind a row's end; `lengths` [rows, 2] int64:
/// the encoder's positions that `frames` of the row make, and its tokens.
struct SpelledTensors {
  at::Tensor tokens{};
  at::Tensor lengths{};
};
SpelledTensors spelled_tensors(const std::vector<LabelRow>& rows, const std::vector<std::int64_t>& frames,
                               std::int32_t eot);

}  // namespace tutti
