#pragma once

#include <string_view>
#include <vector>

namespace tutti {

/// Writing systems as far as they distinguish languages and show how much a character holds.
enum class Script {
  none,  // digits, punctuation, signs
  latin,
  greek,
  cyrillic,
  armenian,
  hebrew,
  arabic,
  indic,  // all Brahmic scripts of India, which share their build; separated by block where it matters
  thai,   // Thai, Lao, Khmer, Burmese, Tibetan: no spaces between words
  georgian,
  ethiopic,
  hangul,
  kana,
  han,
};

/// By Unicode's blocks.
Script script_of(char32_t value);
std::string_view name_of(Script script);

/// Between words: Thai and its neighbours, kana and han.
bool writes_no_spaces(Script script);

/// Characters of the script that the fastest speakers say in a second: some 9 syllables, by how many characters one
/// takes.
double fastest_letters(Script script);

/// What a language of Whisper's is written in; empty where that is not known.
std::vector<Script> scripts_of_language(std::string_view code);

}  // namespace tutti
