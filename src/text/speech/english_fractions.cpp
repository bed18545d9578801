// Fractions, mixed numbers and ratings.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/strings.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// "1/4-1/2 cup", not "7/6-7/10" of dates.
bool read_range_of_fractions(EnglishCursor& text) {
  const auto ends = split(text.core(0), '-');
  if (ends.size() != 2) return false;
  const auto first = split(ends[0], '/'), last = split(ends[1], '/');
  const bool are_fractions = first.size() == 2 && last.size() == 2 && std::ranges::all_of(first, is_all_digits) &&
                             std::ranges::all_of(last, is_all_digits);
  if (!are_fractions) return false;
  text.add_words(fraction_words(first[0], first[1]) + " to " + fraction_words(last[0], last[1]));
  read_unit_behind(text, true);
  return true;
}

/// "a 7/10", "I rated it 4/5", "4/5 stars", "8/10, would stay again"; not "a 3/10 of that".
bool is_rating(const EnglishCursor& text, std::string_view below) {
  constexpr auto kGoesOn =
      std::to_array<std::string_view>({"for", "from", "on", "but", "because", "overall", "rating", "score", "and"});
  constexpr auto kRatings = std::to_array<std::string_view>(
      {"rated", "rate", "rates", "rating", "score", "scored", "scores", "give", "gave", "gives", "review", "reviews"});
  if (below != "10" && below != "5") return false;
  if (text.core(1) == "stars" || text.core(1) == "star") return true;
  const auto next = text.core(1);
  const bool is_last =
      next.empty() || !text.token(0)->behind.empty() || std::ranges::find(kGoesOn, next) != kGoesOn.end();
  if (!is_last) return false;
  if (std::ranges::any_of(kRatings, [&](std::string_view word) { return text.has_word(word); })) return true;
  return below == "10" && (text.small_before() == "a" || !text.has_words());
}

/// "16/64/128GB": sizes to choose from; "31/43/35".
bool read_sizes(EnglishCursor& text) {
  auto parts = split(text.core(0), '/');
  if (parts.size() > 2 && std::ranges::all_of(parts, is_all_digits)) {
    text.add_words(joined(parts, " ", [](std::string_view size) { return cardinal_words(size); }));
    return true;
  }
  const auto last = number_at_front(parts.back());
  const auto unit = parts.back().substr(last.size());
  if (parts.size() < 2 || last.empty() || (unit != "GB" && unit != "TB" && unit != "MB")) return false;
  parts.back() = last;
  if (!std::ranges::all_of(parts, is_all_digits)) return false;
  text.add_words(joined(parts, " ", [](std::string_view size) { return cardinal_words(size); }) + " " +
                 *unit_name(unit, text.token(0)->behind.empty() && describes_noun(text, unit, 1)));
  return true;
}

}  // namespace

bool is_spoken_pair(std::string_view first, std::string_view second) {
  constexpr int kHundred = 100;
  const bool is_of_hundred =
      first.size() == 2 && second.size() == 2 && number_of(first) + number_of(second) == kHundred;
  return is_of_hundred || (first == "24" && second == "7") || (first == "9" && second == "11");
}

bool read_fraction_behind(EnglishCursor& text) {
  constexpr std::size_t kMostDigits = 2;
  const auto whole = text.core(1);
  const auto end = std::min(whole.find_first_not_of("0123456789/"), whole.size());
  const auto parts = split(whole.substr(0, end), '/');
  const bool is_joined = end + 1 < whole.size() && whole[end] == '-' && is_ascii_alphabetic(whole[end + 1]);
  const auto last = end < whole.size() && whole[end] == '-' ? whole.substr(end + 1) : std::string_view();
  const bool is_range = !last.empty() && is_all_digits(last);  // "4 1/2-5 ft."
  const auto unit = end < whole.size() && !is_joined && !is_range ? unit_name(whole.substr(end), false) : std::nullopt;
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits) || !text.token(0)->behind.empty() ||
      (end < whole.size() && !unit && !is_joined && !is_range))
    return false;
  const auto above = parts[0], below = parts[1];
  const bool is_below_one = above.size() < below.size() || (above.size() == below.size() && above < below);
  if (below.size() > kMostDigits || !is_below_one || above == "0") return false;
  std::string words = fraction_words(above, below);
  if (above == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
  text.add_words("and " + words);
  if (unit) text.add_words(*unit);
  const std::string noun(is_joined ? whole.substr(end + 1) : "");
  if (is_range) text.add_words("to " + cardinal_words(last));
  text.advance();
  if (!noun.empty()) read_compound(text, noun);  // "6 1/2-hour"
  return true;
}

bool read_mixed_number(EnglishCursor& text, const std::string& whole, std::string_view rest) {
  constexpr std::size_t kMostDigits = 2;
  const auto end = std::min(rest.find_first_not_of("0123456789/", 1), rest.size());
  const auto parts = split(rest.substr(1, end - 1), '/');
  const bool is_fraction = rest.front() == '-' && parts.size() == 2 && std::ranges::all_of(parts, is_all_digits);
  if (!is_fraction || parts[1].size() > kMostDigits || !is_all_digits(whole)) return false;
  const bool is_below_one = parts[0].size() < parts[1].size() || parts[0] < parts[1];
  const auto unit = end < rest.size() ? unit_name(rest.substr(end), false) : std::nullopt;
  if (!is_below_one || (end < rest.size() && !unit)) return false;
  std::string words = fraction_words(parts[0], parts[1]);
  if (parts[0] == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
  text.add_words(cardinal_words(whole) + " and " + words + (unit ? " " + *unit : ""));
  if (!unit) read_unit_behind(text, false);
  return true;
}

bool read_fraction(EnglishCursor& text, const std::string& above, std::string_view rest) {
  if (read_sizes(text) || read_range_of_fractions(text)) return true;
  auto below = rest.substr(1);
  const bool is_plural = rest.front() == '/' && above == "1" && below.size() > 1 && below.ends_with('s');  // "1/4s"
  if (is_plural) below.remove_suffix(1);
  const bool is_score = rest.front() == '/' && !number_at_front(below).empty() && number_at_front(below) == below &&
                        !(is_all_digits(below) && is_all_digits(above));
  if (is_score) {  // "9.5/10"
    text.add_words(decimal_words(above) + " out of " + decimal_words(below));
    return true;
  }
  const auto digits = below.substr(0, std::min(below.find_first_not_of(kDigits), below.size()));
  const auto unit = digits.size() < below.size() ? unit_name(below.substr(digits.size()), true) : std::nullopt;
  if (rest.front() == '/' && unit && !digits.empty() && is_all_digits(above)) {  // "5/16in"
    text.add_words(fraction_words(above, digits) + " " + *unit);
    return true;
  }
  if (rest.front() != '/' || !is_all_digits(below) || !is_all_digits(above)) return false;
  if (is_plural) {
    const auto words = fraction_words("2", below);
    text.add_words(words.substr(words.find(' ') + 1));
    return true;
  }
  const auto whole = text.core(0);
  const bool is_pair = is_spoken_pair(above, below);
  if (above == below && !is_pair) {  // "10/10"
    text.add_words(cardinal_words(above) + " out of " + cardinal_words(below));
    return true;
  }
  if (whole.find('/') != whole.npos && is_rating(text, below)) {  // "a 7/10"
    text.add_words(cardinal_words(above) + " out of " + cardinal_words(below));
    return true;
  }
  if (text.has_word("odds")) {  // "odds of 7/2"
    text.add_words(cardinal_words(above) + " to " + cardinal_words(below));
    return true;
  }
  constexpr std::size_t kTens = 2;
  const bool is_over = below.size() >= kTens && below > "20" && above.size() >= below.size() &&
                       !(above.size() == below.size() && above < below);
  const bool has_article = text.has_words() && text.last_word() == "an" && above == "1";  // "an 1/8 of"
  text.add_words(has_article ? ordinal_words(below)
                 : is_pair   ? cardinal_words(above) + " " + cardinal_words(below)
                 : is_over   ? cardinal_words(above) + " over " + cardinal_words(below)
                             : fraction_words(above, below));
  if (!is_pair) read_unit_behind(text, !is_over);  // "1/1000 s", but "120/80 mmHg"
  return true;
}

}  // namespace tutti
