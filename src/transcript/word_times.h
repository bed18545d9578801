#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "transcript/hallucinations.h"
#include "transcript/long_form.h"
#include "transcript/transcript.h"

namespace tutti {

/// A word before it belongs to a segment. Times are seconds from the window's start.
struct TimedWord {
  std::string text{};      // empty: its punctuation went to a neighbour
  std::size_t tokens = 0;  // tokens of the text that spell it
  double start = 0;
  double end = 0;
  double probability = 0;  // mean over its tokens
  bool is_exact = false;   // its times are known, and are not moved to what is likely
};

/// The words of `text` (ids below end-of-text) with their times: each begins where its first token does and ends where
/// the next word begins, or its last token does where that is known. `alignment` must have a start for every token and
/// one more. Empty for texts whose bytes never become whole (timing.py, find_alignment, from the alignment on).
std::vector<TimedWord> timed_words(const Tokenizer& tokenizer, std::span<const std::int32_t> text,
                                   const AlignAnswer& alignment, std::string_view language);

/// Gives a sign out of `prepended` that is alone behind a space to the word behind it, and one out of `appended` to the
/// word before it. A sign is any run of characters of the list, as Python's `in` finds it (timing.py,
/// merge_punctuations).
void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepended, std::string_view appended);

/// Gives the segments of one window, which `words` were aligned for, their words, and moves the segments' edges to them
/// (openai-whisper 20250625, timing.py, add_word_timestamps). Words much longer than the median, which are pauses taken
/// for speech, are cut at sentence ends and beside long silence. Word times are rounded to 0.01 s. `eot`: ids below it
/// are text. `last_speech`: where the last word of earlier windows ended, seconds.
void add_word_times(std::span<Segment> segments, std::vector<TimedWord> words, const WordRules& rules, std::int32_t eot,
                    double last_speech);

/// Where the last word ends; without words, where the last segment does; none without segments. Seconds.
std::optional<double> speech_end(std::span<const Segment> segments);

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
