#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A piece of a text as it is read aloud: a word in small letters, IPA as it was given, or a mark that stands for a
/// pause: one of , ; : . ? !
struct ReadAloud {
  enum class Kind { word, letter, ipa, mark };
  Kind kind = Kind::word;
  std::string text{};  ///< of a letter's name: the letter
  bool operator==(const ReadAloud&) const = default;
};

/// Whether a dictionary has a word (small letters).
using KnowsWord = std::function<bool(std::string_view)>;

/// English text as it is read aloud: numbers, years, dates, times, money, fractions, units, titles and other
/// abbreviations are written out, words in capitals that `knows` does not know are spelled. [[…]] is IPA. Accents are
/// dropped; letters of other scripts go into `skipped`. Pure.
std::vector<ReadAloud> read_english(std::string_view text, const KnowsWord& knows, std::set<std::string>& skipped);

/// Text of any other language: words in small letters, marks and [[…]]; nothing is written out.
std::vector<ReadAloud> read_letters(std::string_view text);

}  // namespace tutti
