#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace tutti {

// The signs that English has words for, in one table. What is not in it and is no mark, quote or bracket cannot be
// read: the caller names it as left out. All functions are pure.

/// A sign of one character or several, and its words. An empty text: it has none there.
struct Sign {
  std::string_view written;  ///< UTF-8
  std::string_view between;  ///< between two others: "a < b" is "is less than"
  std::string_view before;   ///< before what it belongs to: "<5" is "less than"
  std::string_view behind;   ///< behind it: "18+" is "plus"
};

/// The longest sign that `text` begins with; null where it begins with none.
const Sign* sign_at_front(std::string_view text);

/// Whether a sign compares what is on its sides: "=" and "<" do, "+" does not. It makes a text an equation.
bool is_relation(const Sign& sign);

/// What a stroke through the sign before it negates: "\u2260" is "=" and this one, once it is decomposed.
inline constexpr char32_t kStroke = U'\u0338';

/// The words of a sign that such a stroke is in: "is less than" becomes "is not less than".
std::string negated_words(std::string_view words);

/// Where digits or characters are raised begin with this one of Unicode's private characters: "10\u207B\u00B3" is "10",
/// it and "-3" in the tokens of a text.
inline constexpr char32_t kRaised = U'\uE000';

/// The name of a Greek character that is alone, capital or not: "alpha". Empty for other characters.
std::string_view greek_name(char32_t character);

/// Each character beyond ASCII that a sign of the table has.
const std::u32string& sign_characters();

/// Whether a mark means nothing aloud beside the pause that it may be: quotes, brackets, bullets, "*" and "_" around
/// words.
bool is_silent(char32_t c);

/// Whether a character has no form: controls but white space, soft hyphens, marks of direction and of joining.
bool is_invisible(char32_t c);

/// A text in ASCII, the signs of signs.h and those of currencies, each in one form: raised digits are kRaised and
/// digits, "10 000" is "10,000", a Greek character alone is its name, all dashes but minus and range are U+2014.
/// Accents are dropped, other scripts are blanks. Each character that cannot be read, and is no mark, goes into
/// `skipped`. Pure.
std::u32string plain_signs(std::string_view text, std::set<std::string>& skipped);

}  // namespace tutti
