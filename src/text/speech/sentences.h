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
  std::vector<std::string> pieces{};
  std::vector<bool> rises{};  // by piece: it ends a question that yes or no answers, whose beginning others may have
  std::size_t cut = 0;        // how often a sentence was cut because it was too long
};

/// Cuts a text (UTF-8) behind the end of each sentence: '.', '!', '?', ';' or ':' before white space, and line breaks;
/// not behind a short abbreviation ("Dr.") or an initial, and not within HTML's entities and tags. A sentence of more
/// than `most` bytes is cut again, where there is one at a comma, else between two words, else between two characters.
/// Pieces without a word character or a sign are left out, white space at their ends too.
///
/// What kind of question a piece ends follows from all of it, back to the last '.', '!', '?' or line break: "What did
/// he want: this; or that?" falls, and only the last piece of a question rises.
///
/// Nothing else is lost: joined by white space, the pieces are the text. What [[ and ]] enclose is never cut at a stop.
/// Pure; thread-safe; linear in the text but for `most`.
///
/// "Dr. Smith came. Did he?" has the pieces "Dr. Smith came." and "Did he?".
Sentences split_sentences(std::string_view text, std::size_t most);

/// Whether a sentence is a question that yes or no answers: it ends with "?", quotes and brackets aside, and begins as
/// "is it" does, or neither of its first two words requests something else, as "what" and "in which" do. Such a
/// question ends high. Pure.
bool is_yes_or_no_question(std::string_view sentence);

}  // namespace tutti
