#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Bytes of a sentence that voices speak at once: about as long as the longest that they learn from. Beyond it the
/// durations drift, and the sound of the first words comes later.
inline constexpr std::size_t kLongestSentence = 240;

/// A text in the pieces that it is spoken in.
struct Sentences {
  /// In their order, without white space at their ends; none where the text has no word.
  std::vector<std::string> pieces{};
  /// How often a sentence was cut because it was too long: callers report it, since a cut inside of a phrase is a pause
  /// that its writer did not want.
  std::size_t cut = 0;
};

/// Cuts a text (UTF-8) behind the end of each sentence: '.', '!', '?', ';' or ':' before white space, and line breaks;
/// not behind a short abbreviation ("Dr.") or an initial. A sentence of more than `most` bytes is cut again, where
/// there is one at a comma, else between two words, else between two characters of UTF-8, however many bytes these
/// have. Pieces without a word character are left out.
///
/// Nothing else is lost: joined by white space, the pieces are the text. What [[ and ]] enclose is never cut at a stop.
/// Pure; thread-safe; linear in the text but for `most`: a longer one makes each cut look further ahead.
Sentences split_sentences(std::string_view text, std::size_t most);

}  // namespace tutti
