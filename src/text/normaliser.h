#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Whisper's normalisers, which WER is counted behind (whisper/normalizers of openai-whisper 20250625). Input is UTF-8;
/// broken bytes count as U+FFFD. Pure and thread-safe. Neither strips spaces at the ends, as the reference does not.

struct BasicNormalising {
  bool remove_diacritics = false;  // "é" becomes "e", and "ß" "ss"
  bool split_letters = false;      // a space between characters (grapheme clusters): for scripts without spaces
};

/// For any language: lower case, no brackets and what is inside them, no symbols and punctuation.
std::string normalise_basic(std::string_view text, BasicNormalising how = {});

/// For English: as above without diacritics, contractions and titles written out, numbers in digits, American
/// spelling.
std::string normalise_english(std::string_view text);

/// The same of a text in lines, which are joined by spaces: no number goes on over the end of a line, so that six lines
/// of a digit each are six numbers. Brackets may.
std::string normalise_english_lines(std::string_view text);

}  // namespace tutti
