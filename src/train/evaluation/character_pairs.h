#pragma once

#include <compare>
#include <string_view>
#include <vector>

namespace tutti {

/// What stands in a text, and what was heard instead; 0: nothing.
struct CharacterPair {
  char32_t reference = 0;
  char32_t hypothesis = 0;
  auto operator<=>(const CharacterPair&) const = default;
};

/// The differences along a shortest path of edits between two texts (UTF-8), from their end back. Time and memory are
/// the product of their lengths: meant for samples, not for books.
std::vector<CharacterPair> differing_characters(std::string_view reference, std::string_view hypothesis);

}  // namespace tutti
