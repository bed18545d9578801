#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The text with ASCII's capital letters made small and every other byte as it is, whatever the locale: for names,
/// flags and extensions. What people wrote is lower's (text/code_points.h).
inline std::string ascii_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// The text with ASCII's small letters made capitals, likewise.
inline std::string ascii_upper(std::string_view text) {
  std::string capitals(text);
  for (char& c : capitals)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return capitals;
}

// Classes of ASCII characters, whatever the locale; false for every byte of other characters.

/// Of a byte or of a code point.
inline bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

inline bool is_ascii_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

inline bool is_ascii_alphabetic(char c) {
  return is_ascii_upper(c) || (c >= 'a' && c <= 'z');
}

/// Whether `text` is ASCII digits and nothing else; false for no text.
inline bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_ascii_digit);
}

/// `text` without the spaces, tabs and line ends before and behind it, as a view into it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The parts of `text` between separators, as views into it, the other way of `joined`: "a,,b," is "a", "" and "b". No
/// text has no parts.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// `text_of` each of the parts (themselves, where they are texts) in their order, with `between` each two of them.
template <class Parts, class TextOf = std::identity>
std::string joined(const Parts& parts, std::string_view between, const TextOf& text_of = {}) {
  std::string text;
  bool is_first = true;
  for (const auto& part : parts) {
    if (!is_first) text += between;
    text += std::invoke(text_of, part);
    is_first = false;
  }
  return text;
}

/// `utf8` with a space for every control character. Names come from files, and text comes from a model: what moves the
/// cursor or begins a line must not reach the terminal or the log.
std::string without_controls(std::string_view utf8);

/// Levenshtein distance: how many characters must be put in, left out or replaced to make `b` of `a`.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The candidate closest to `word` by edits, or empty when none is close enough to be the intended one.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

}  // namespace tutti
