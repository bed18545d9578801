#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A piece of a text as it is read aloud: a word in lower case, IPA as it was given, or the mark of a
/// pause: one of , ; : . ? !
struct ReadAloud {
  enum class Kind { word, initial, ipa, mark };
  Kind kind = Kind::word;
  std::string text{};  ///< the word; for an initial, which is read by its name, its one character
  bool operator==(const ReadAloud&) const = default;
};

/// Whether a dictionary has a word, and so knows how it sounds (lower case).
using KnowsWord = std::function<bool(std::string_view)>;

/// English text as it is read aloud: "Mr. Lee paid $3.50 on May 5, 1863." is "mister lee paid three dollars and fifty
/// cents on may fifth , eighteen sixty three ." Numbers, years, dates, times, money, fractions, units, titles and other
/// abbreviations are written out, signs are read by what is beside them ("a != b", "<5"), words in capitals that
/// `knows` does not know are spelled. [[…]] is IPA; the markup of pages is taken off. Accents are dropped; what cannot
/// be read, of other scripts or a sign without words, goes into `skipped`. Pure.
std::vector<ReadAloud> read_english(std::string_view text, const KnowsWord& knows, std::set<std::string>& skipped);

/// Text of any other language: words in lower case, marks and [[…]], without markup; nothing is written out. Signs go
/// into `skipped`.
std::vector<ReadAloud> read_characters(std::string_view text, std::set<std::string>& skipped);

}  // namespace tutti
