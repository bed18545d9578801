#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "transcript/long_form.h"

namespace tutti {

/// A word before it belongs to a segment. Times are seconds from the window's start.
struct TimedWord {
  std::string text{};      // empty: its punctuation went to a neighbour
  std::size_t tokens = 0;  // of the text, that spell it
  double start = 0;
  double end = 0;
  double probability = 0;  // mean over its tokens
};

/// The words of `text` (ids below end-of-text) with their times: each begins where its first token does and ends where
/// the next word begins. `alignment` must have a start for every token and one more. Empty for texts whose bytes never
/// become whole (timing.py, find_alignment, from the alignment on).
std::vector<TimedWord> timed_words(const Tokenizer& tokenizer, std::span<const std::int32_t> text,
                                   const AlignAnswer& alignment, std::string_view language);

/// Gives a sign out of `prepended` that is alone behind a space to the word behind it, and one out of `appended` to the
/// word before it. A sign is any run of characters of the list, as Python's `in` finds it (timing.py,
/// merge_punctuations).
void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepended, std::string_view appended);

}  // namespace tutti
