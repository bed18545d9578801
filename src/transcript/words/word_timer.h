#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "transcript/long_form.h"
#include "transcript/words/hallucinations.h"
#include "transcript/words/timed_words.h"

namespace tutti {

/// Gives the segments of a window their words, window after window. Const, so thread-safe where the decoder is; borrows
/// tokenizer and rules.
class WordTimer {
 public:
  /// `sot_sequence`: start of transcript, language, task. `frames_per_window`: of the model.
  WordTimer(const Tokenizer& tokenizer, const WordRules& rules, std::vector<std::int32_t> sot_sequence,
            std::string language, std::int64_t frames_per_window)
      : tokenizer_(tokenizer),
        rules_(rules),
        sot_sequence_(std::move(sot_sequence)),
        language_(std::move(language)),
        frames_per_window_(frames_per_window) {}

  /// Aligns the text of `segments`, which `window` was cut into, sets their words and edges, and returns where to go
  /// on: behind the window's start. Segments that were invented over silence are dropped. `sliced`: the cut itself.
  Result<WordSeek> add_words(std::vector<Segment>& segments, WindowSpan window, const SlicedWindow& sliced,
                             const AroundWindow& around, WindowDecoder& decoder) const;

 private:
  Result<std::vector<TimedWord>> words_of(const std::vector<Segment>& segments, WindowSpan window,
                                          WindowDecoder& decoder) const;

  const Tokenizer& tokenizer_;
  const WordRules& rules_;
  const std::vector<std::int32_t> sot_sequence_;
  const std::string language_;
  const std::int64_t frames_per_window_;
};

}  // namespace tutti
