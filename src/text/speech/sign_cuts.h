#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tutti {

// Where a word with signs in it is cut: "x<=5" is "x", "<=" and "5", "2024-03-15" is whole. All functions are pure.
//
// A relation ("=", "<", "is in") is always cut around. "-" and "/" are, where one calculates with what is beside them:
// the word has a relation, or is beside one, or brackets show it.

/// A word, and what is beside it.
struct SignedWord {
  std::string_view text;
  bool is_beside_relation = false;
};

/// Whether a word is cut around a sign within it, so that what is beside the sign is read as a word of its own.
bool is_cut_at(const SignedWord& word, std::size_t at, std::string_view sign);

/// Whether a text begins with "=", "<" and the like.
bool begins_with_relation(std::string_view text);

/// Whether one of them is anywhere in it.
bool has_relation(std::string_view text);

/// The value of a number without a sign; none for other text.
std::optional<double> value_of(std::string_view number);

/// "x": one character that one calculates with.
bool is_variable(std::string_view text);

}  // namespace tutti
