#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "prepare/text_unit.h"
#include "text/tokenizer.h"
#include "transcript/word_times.h"

namespace tutti {

/// Finds when the words of a known text were spoken, by the model's own attention (docs/training.md). Borrows what it
/// is given. One thread.
class TextAligner {
 public:
  /// `input`: of the whole recording.
  TextAligner(const Tokenizer& tokenizer, const WordTimer& timer, LongFormInput input, double least_score)
      : tokenizer_(tokenizer), timer_(timer), input_(input), least_score_(least_score) {}

  /// Gives each unit its words, its score, and edges that fit them; its times may be off by half a second before. As
  /// many units as one window holds are aligned together. Where some then look improbable, each is aligned by itself,
  /// because text that was never spoken shifts what follows. What does not fit a window is refused.
  Result<void> align(std::vector<TextUnit>& units, WindowDecoder& decoder) const;

 private:
  WindowSpan span_of(const TextUnit& first, const TextUnit& last) const;
  bool fits(const TextUnit& first, const TextUnit& last) const;
  std::string objection(const TextUnit& unit) const;
  std::size_t end_of_run(const std::vector<TextUnit>& units, std::size_t first) const;
  Result<void> align_run(std::span<TextUnit> run, double& last_speech, WindowDecoder& decoder) const;
  Result<void> align_group(std::span<TextUnit> group, double& last_speech, WindowDecoder& decoder) const;

  const Tokenizer& tokenizer_;
  const WordTimer& timer_;
  LongFormInput input_;
  double least_score_;
};

}  // namespace tutti
