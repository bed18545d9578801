#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tutti {

/// How many of a text's words are small words (articles, pronouns, prepositions) of a language.
struct SmallWordCount {
  std::string_view language;  // code
  std::size_t hits = 0;
};

/// One entry per language that has a list, in a fixed order. `words` in lower case.
std::vector<SmallWordCount> count_small_words(const std::vector<std::u32string_view>& words);

}  // namespace tutti
