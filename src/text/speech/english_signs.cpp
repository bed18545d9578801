#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"
#include "text/speech/signs.h"
#include "text/speech/word_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// "$5 / kg", "100 km / h": what is before and behind the sign.
bool is_rate(const EnglishCursor& text) {
  const auto& before = text.before()->core;
  return unit_name(text.core(1), true) && (is_ascii_digit(before.back()) || unit_name(before, true));
}

/// "File > Open", where nothing is compared.
bool is_path(const EnglishCursor& text) {
  const auto* before = text.before();
  return text.core(0).starts_with('>') && before && !is_operand(*before) && !is_operand(*text.token(1)) &&
         !text.token(1)->core.empty() && is_ascii_upper(text.token(1)->core.front());
}

/// "must be >= 3": a word before a relation after which its "is" would be one too many.
bool has_is_before(const EnglishCursor& text) {
  constexpr auto kPrepositions = std::to_array<std::string_view>({"for", "with", "of", "at", "by", "requires"});
  const bool is_compared = std::ranges::find(kPrepositions, text.small_before(2)) != kPrepositions.end();
  if (is_compared && text.before()->behind.empty() && text.before()->core.size() > 1)
    return true;  // "support for Python < 3.9", not "for i < 10"
  constexpr auto kWords = std::to_array<std::string_view>(
      {"be", "is", "are", "was", "were", "been", "being", "isn't", "aren't", "wasn't", "weren't", "not"});
  return text.before() && std::ranges::find(kWords, ascii_lower(text.before()->core)) != kWords.end();
}

/// "be less than 3" where "be is less than 3" would be read.
std::string without_is(const std::string& words) {
  constexpr std::string_view kIs = "is ";
  if (words == "equals") return "equal to";
  return words.starts_with(kIs) ? words.substr(kIs.size()) : words;
}

/// "!a" and "!(a && b)" of code; "!important" may be prose.
bool negates_operand(const EnglishToken& next) {
  return next.is_opened || (next.core.size() == 1 && is_ascii_alphabetic(next.core.front()));
}

/// A key that is held while another one is pressed.
bool is_key(std::string_view word) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"ctrl", "control", "alt", "shift", "cmd", "command", "option", "win", "fn"});
  return std::ranges::find(kKeys, ascii_lower(word)) != kKeys.end();
}

/// "I <3 it": a heart.
bool read_heart(EnglishCursor& text) {
  const auto* next = text.token(1);
  const auto who = text.small_before();
  const bool is_someone = who == "i" || who == "we" || who == "you" || who == "they" || who == "u";
  if (text.core(0) != "<" || !is_someone || !next || !next->is_tight || next->core != "3" || text.core(2).empty())
    return false;
  text.advance();
  text.add_words("love");
  return true;
}

/// Whether the "x" or "\u00D7" that is next parts the sides of something: "a 2 x 4", "1366 x 768", "12ft x 14ft", "7.3
/// x 0.8 x 4.9-inch".
bool is_of_sizes(const EnglishCursor& text) {
  const auto article = text.small_before(2);
  if (article == "a" || article == "an") return true;
  const auto next = text.core(1);
  if (next.find(to_utf8(std::u32string(1, kRaised))) != next.npos) return false;        // "3.2 x 10^-6 m"
  const std::size_t behind = text.core(2).find('/') == std::string_view::npos ? 2 : 3;  // "24 x 20 1/4 inches"
  constexpr auto kLengths =
      std::to_array<std::string_view>({"inches", "feet", "yards", "meters", "in", "ft", "cm", "mm", "m"});
  if (std::ranges::find(kLengths, text.core(behind)) != kLengths.end()) return true;
  const std::string_view before = text.before() ? std::string_view(text.before()->core) : "";
  const auto first = number_at_front(before), second = number_at_front(next);
  constexpr std::size_t kPixels = 3;
  const bool are_pixels =
      is_all_digits(first) && is_all_digits(second) && first.size() >= kPixels && second.size() >= kPixels;
  const bool has_unit = second.size() < next.size() && is_ascii_alphabetic(next.back()) && next.find('^') == next.npos;
  const auto is_product = [](std::string_view word) { return word == "x" || word == "\u00D7"; };
  const bool is_of_three = is_product(text.core(2)) || is_product(text.small_before(2));
  return are_pixels || has_unit || is_of_three;
}

}  // namespace

bool read_sign(EnglishCursor& text) {
  const EnglishToken& token = *text.token(0);
  if (!token.is_sign) return false;
  if (read_heart(text)) return true;
  const std::string written = token.core;
  const Sign* sign = sign_at_front(written);
  const auto* before = text.before();
  const auto* next = text.token(1);
  const bool is_behind =
      before && !before->is_sign && !token.is_opened && before->behind.find_first_not_of(')') == std::string::npos;
  const bool is_before = next && token.behind.empty();
  const bool is_of_next = is_before && next->is_tight && !token.is_tight;  // "use <5 mg"
  const bool is_between = is_behind && is_before && !is_of_next;
  const bool is_of_before = is_behind && token.is_tight && (!is_before || !next->is_tight);    // "5! = 120"
  const bool is_of_keys = written == "+" && token.is_tight && before && is_key(before->core);  // "Ctrl+C"
  const bool is_of_years = written == "/" && is_between && may_be_year(before->core) && may_be_year(next->core);
  const bool is_repeated = written == "\u00A9" && text.small_before() == "copyright";
  if (is_of_keys || is_of_years || is_repeated) return true;  // read without a word of its own
  auto words = std::string(is_of_before && !sign->behind.empty() ? sign->behind
                           : is_between                          ? sign->between
                           : is_before                           ? sign->before
                                                                 : sign->behind);
  const bool is_slash = token.core == "/" && is_between && !(is_operand(*before) && is_operand(*next));
  if (is_slash && is_rate(text)) {
    text.advance();
    words = "per " + unit_of_rate(text.core(0));
  } else if (is_slash) {
    words = "slash";
  }
  if (!is_slash && is_before && is_behind && is_path(text)) words.clear();
  if (written == "!" && words == sign->before && !(next && negates_operand(*next))) words.clear();
  const auto begins_with_digit = [](std::string_view core) { return !core.empty() && is_ascii_digit(core.front()); };
  if (written == "=>" && is_between && begins_with_digit(before->core) && begins_with_digit(next->core))
    words = "to";  // "30 => 60"
  const bool is_negated = written.size() > sign->written.size();
  if (is_negated && !words.empty()) words = negated_words(words);
  if (is_before && is_behind && is_relation(*sign) && has_is_before(text)) words = without_is(words);
  if (written == "\u00D7" && is_between && is_of_sizes(text)) words = "by";
  if (written == "\u2211" && text.core(1) == "of") words = "the sum";
  if (words.empty())
    text.leave_out(written);
  else
    text.add_words(words);
  return true;
}

bool read_product(EnglishCursor& text) {
  const auto* before = text.before();
  if (text.core(0) != "x" || number_at_front(text.core(1)).empty()) return false;
  const bool is_behind_unit = before && text.before(2) && unit_name(before->core, true) &&  // "22 in. x 36 in."
                              !number_at_front(text.before(2)->core).empty() &&
                              before->behind.find_first_not_of('.') == std::string::npos;
  const bool is_behind_number = before && !number_at_front(before->core).empty() && before->behind.empty();
  constexpr auto kSides = std::to_array<std::string_view>({"deep", "wide", "high", "tall", "long", "thick"});
  if (before && std::ranges::find(kSides, before->core) != kSides.end()) {  // "18 in. deep x 18 in. wide"
    text.add_words("by");
    return true;
  }
  if (!is_behind_number && !is_behind_unit) return false;
  text.add_words(is_of_sizes(text) ? "by" : "times");
  return true;
}

}  // namespace tutti
