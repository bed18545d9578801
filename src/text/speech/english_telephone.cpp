#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

constexpr std::size_t kArea = 3, kLine = 4;  // digits of parts of American numbers

bool has_digits(std::string_view text, std::size_t count) {
  return text.size() == count && is_all_digits(text);
}

/// "555-0199".
bool is_local(std::string_view text) {
  const auto groups = split(text, '-');
  return groups.size() == 2 && has_digits(groups[0], kArea) && has_digits(groups[1], kLine);
}

void add_groups(EnglishCursor& text, std::string_view groups) {
  bool is_first = true;
  for (const auto group : split(groups, '-')) {
    if (!is_first) text.add_mark(',');
    text.add_words(digit_words(group));
    is_first = false;
  }
}

/// "(212) 555-0199", also behind "1".
bool read_area_and_number(EnglishCursor& text) {
  const std::size_t area = text.core(0) == "1" && text.token(0)->behind.empty() ? 1 : 0;
  const auto* token = text.token(area);
  if (!token || !token->is_opened || token->behind != ")" || !has_digits(token->core, kArea) ||
      !is_local(text.core(area + 1)))
    return false;
  for (std::size_t part = 0; part <= area; ++part, text.advance()) text.add_words(digit_words(text.core(0)));
  text.add_mark(',');
  add_groups(text, text.core(0));
  return true;
}

/// "(020) 7946 0321".
bool read_area_and_groups(EnglishCursor& text) {
  const auto& area = *text.token(0);
  constexpr std::size_t kLongestArea = 5;
  if (!area.is_opened || area.behind != ")" || area.core.size() < 2 || area.core.size() > kLongestArea ||
      area.core.front() != '0' || !is_all_digits(area.core) || text.core(1).size() < kArea ||
      !is_all_digits(text.core(1)))
    return false;
  text.add_words(digit_words(area.core));
  for (bool is_near = true; is_near && !text.core(1).empty() && is_all_digits(text.core(1));) {
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
    is_near = text.token(0)->behind.empty();
  }
  return true;
}

/// "+1 (212) 644 9001".
bool read_international_area(EnglishCursor& text) {
  const auto code = text.core(0);
  const auto* area = text.token(1);
  const bool has_area = area && area->is_opened && area->behind == ")" && is_all_digits(area->core);
  if (code.size() < 2 || code.front() != '+' || !is_all_digits(code.substr(1)) || !has_area) return false;
  text.add_words("plus");
  add_groups(text, code.substr(1));
  text.advance();
  text.add_mark(',');
  add_groups(text, text.core(0));
  for (bool is_near = true; is_near && !text.core(1).empty();) {
    const auto groups = split(text.core(1), '-');
    if (!std::ranges::all_of(groups, is_all_digits)) break;
    text.advance();
    text.add_mark(',');
    add_groups(text, text.core(0));
    is_near = text.token(0)->behind.empty();
  }
  return true;
}

/// "+44 20 7946 0958", "+1-202-555-0173", "+1.415.555.0199".
bool read_international(EnglishCursor& text) {
  std::string whole(text.core(0));
  constexpr std::size_t kParts = 4;
  if (split(whole, '.').size() == kParts) std::ranges::replace(whole, '.', '-');
  if (whole.size() < 2 || whole.front() != '+') return false;
  const auto groups = split(std::string_view(whole).substr(1), '-');
  constexpr std::size_t kLongestCode = 3;
  if (!std::ranges::all_of(groups, is_all_digits) || groups[0].size() > kLongestCode) return false;
  const auto next = split(text.core(1), '-');
  const bool is_next_joined = next.size() == 2 && std::ranges::all_of(next, is_all_digits) && next[1].size() > kLine;
  const bool has_more =
      text.token(0)->behind.empty() &&
      (is_next_joined || (is_all_digits(text.core(1)) && (text.core(1).size() > 1 || is_all_digits(text.core(2)))));
  if (groups.size() < 3 && !has_more) return false;
  text.add_words("plus");
  add_groups(text, std::string_view(whole).substr(1));
  if (is_next_joined && groups.size() < 3) {  // "+30 210-9549332"
    text.advance();
    text.add_mark(',');
    add_groups(text, text.core(0));
    return true;
  }
  while (is_all_digits(text.core(1)) && text.token(0)->behind.empty()) {
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
  }
  return true;
}

/// "503 555 0190" and, where a zero begins it, "020 7946 0958": groups that blanks part.
bool read_national(EnglishCursor& text) {
  std::vector<std::string_view> groups;
  for (std::size_t at = 0; is_all_digits(text.core(at)) && !text.core(at).empty(); ++at) {
    groups.push_back(text.core(at));
    if (!text.token(at)->behind.empty()) break;
  }
  constexpr std::size_t kLongestPrefix = 5;
  const bool has_zero = groups.size() > 1 && groups[0].size() > 1 && groups[0].size() <= kLongestPrefix &&
                        groups[0].front() == '0' && groups[1].size() >= kArea;
  const bool is_american =
      groups.size() == 3 && groups[0].size() == kArea && groups[1].size() == kArea && groups[2].size() == kLine;
  const bool is_half_joined = groups.size() == 1 && groups[0].size() == kArea && text.token(0)->behind.empty() &&
                              is_local(text.core(1));  // "503 555-0190"
  if (is_half_joined) {
    text.add_words(digit_words(text.core(0)));
    text.advance();
    text.add_mark(',');
    add_groups(text, text.core(0));
    return true;
  }
  if (!has_zero && !is_american) return false;
  text.add_words(digit_words(text.core(0)));
  for (std::size_t group = 1; group < groups.size(); ++group) {
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
  }
  return true;
}

/// "1-800-FLOWERS".
bool read_number_of_words(EnglishCursor& text) {
  const std::string whole(text.core(0));
  constexpr std::string_view kFirst = "1-";
  constexpr std::size_t kHead = 6;  // "1-800-"
  if (!whole.starts_with(kFirst) || whole.size() <= kHead || whole[kHead - 1] != '-' ||
      !is_all_digits(std::string_view(whole).substr(2, kArea)) || !is_ascii_upper(whole[kHead]))
    return false;
  add_groups(text, std::string_view(whole).substr(0, kHead - 1));
  for (const auto part : split(std::string_view(whole).substr(kHead), '-'))
    is_all_digits(part) ? text.add_words(digit_words(part)) : read_compound(text, part);
  return true;
}

/// Whether nothing is counted by the number: "call 911 now", not "call 300 people".
bool counts_nothing(const EnglishCursor& text) {
  constexpr auto kBehind = std::to_array<std::string_view>(
      {"in",  "for", "or",     "and",   "if",          "from",  "at", "to",   "when", "on",
       "now", "is",  "before", "after", "immediately", "right", "as", "with", "by",   "until"});
  const auto next = ascii_lower(text.core(1));
  return next.empty() || !text.token(0)->behind.empty() || std::ranges::find(kBehind, next) != kBehind.end();
}

/// "call 911", "ext. 204", "the area code is 718", "call 999 or 112".
bool read_called(EnglishCursor& text) {
  constexpr std::size_t kMostDigits = 6;
  std::string_view digits = text.core(0);
  const bool is_marked = digits.starts_with('x') && text.has_words() && text.last_word() == "extension";
  if (is_marked) digits.remove_prefix(1);  // "extension x204"
  if (digits.size() < kArea || digits.size() > kMostDigits || !is_all_digits(digits) || !text.has_words()) return false;
  constexpr auto kCalls = std::to_array<std::string_view>({"call", "dial", "ring", "phone", "called", "dialed"});
  constexpr auto kNumbered = std::to_array<std::string_view>({"extension", "ext", "code", "pin", "passcode", "id"});
  const auto is_one_of = [](const auto& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  const auto& last = text.last_word();
  const auto before = text.small_before();
  constexpr auto kCards = std::to_array<std::string_view>({"card", "visa", "mastercard", "account", "number", "amex"});
  const bool is_ending = (before == "in" || before == "with") &&  // "your Visa ending in 4417"
                         (text.small_before(2) == "ending" || text.small_before(2) == "ends") &&
                         std::ranges::any_of(kCards, [&](std::string_view word) { return text.has_word(word); });
  const bool is_of_exit = before == "code" && text.small_before(2) == "exit";
  const bool is_numbered =
      is_ending ||
      (!is_of_exit && (is_one_of(kNumbered, before) || (before == "is" && is_one_of(kNumbered, text.small_before(2)))));
  const bool is_another = (last == "or" || last == "and" || last == "not") &&
                          std::ranges::any_of(kCalls, [&](std::string_view word) { return text.has_word(word); });
  if (!is_numbered && !((is_one_of(kCalls, last) || is_another) && counts_nothing(text))) return false;
  if (is_marked) text.add_words("x");
  text.add_words(digit_words(digits));
  while (is_numbered && text.token(0)->behind.empty() && text.core(1).size() >= kArea &&
         is_all_digits(text.core(1))) {  // "meeting ID 842 1903 7765"
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
  }
  return true;
}

/// "My landline: 555.0102", "text YES to 80888".
bool read_number_of_call(EnglishCursor& text) {
  const auto word = text.core(0);
  const auto has_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view one) { return text.has_word(one); });
  };
  const auto groups = split(word, '.');
  const bool is_dotted = groups.size() == 2 && has_digits(groups[0], kArea) && has_digits(groups[1], kLine) &&
                         has_one_of({"call", "phone", "landline", "mobile", "number", "telephone", "cell", "fax"});
  constexpr std::size_t kShortCode = 5;
  const bool is_short_code = text.has_words() && text.last_word() == "to" &&
                             (text.has_word("text") || text.has_word("reply")) &&
                             (has_digits(word, kShortCode) || has_digits(word, kShortCode + 1));
  if (!is_dotted && !is_short_code) return false;
  for (const auto group : groups) text.add_words(digit_words(group));
  return true;
}

}  // namespace

bool read_telephone(EnglishCursor& text) {
  return read_area_and_number(text) || read_area_and_groups(text) || read_international_area(text) ||
         read_international(text) || read_national(text) || read_number_of_words(text) || read_called(text) ||
         read_number_of_call(text);
}

}  // namespace tutti
