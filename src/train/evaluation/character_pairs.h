#pragma once

#include <compare>
#include <string_view>
#include <vector>

namespace tutti {

/// A character of the reference, and what the model wrote instead; 0: nothing.
struct CharacterPair {
  char32_t reference = 0;
  char32_t hypothesis = 0;
  auto operator<=>(const CharacterPair&) const = default;
};

/// The differences along a shortest path of edits between two texts (UTF-8), from their end back. Time and memory are
/// the product of their lengths: intended for samples, not for long texts.
std::vector<CharacterPair> differing_characters(std::string_view reference, std::string_view hypothesis);

}  // namespace tutti
