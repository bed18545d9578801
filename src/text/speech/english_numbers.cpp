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

namespace tutti {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// Whether the token, a number with its unit, describes the noun behind it: "2000W heater".
bool is_attribute(const EnglishCursor& text, std::string_view unit) {
  return text.token(0)->behind.empty() && describes_noun(text, unit, 1);
}

/// A number that counts: "1200" is "twelve hundred", as "1,200" is not.
std::string counted_words(std::string_view number) {
  return may_be_year(number) && number.ends_with("00") ? year_words(number) : decimal_words(without_commas(number));
}

/// "2 1/2 cups", "1 3/8in": the fraction belongs to the number before it.
bool read_fraction_behind(EnglishCursor& text) {
  constexpr std::size_t kMostDigits = 2;
  const auto whole = text.core(1);
  const auto end = std::min(whole.find_first_not_of("0123456789/"), whole.size());
  const auto parts = split(whole.substr(0, end), '/');
  const auto unit = end < whole.size() ? unit_name(whole.substr(end), false) : std::nullopt;
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits) || !text.token(0)->behind.empty() ||
      (end < whole.size() && !unit))
    return false;
  const auto above = parts[0], below = parts[1];
  const bool is_below_one = above.size() < below.size() || (above.size() == below.size() && above < below);
  if (below.size() > kMostDigits || !is_below_one || above == "0") return false;
  std::string words = fraction_words(above, below);
  if (above == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
  text.add_words("and " + words);
  if (unit) text.add_words(*unit);
  text.advance();
  return true;
}

/// What is numbered rather than counted: "HTTP 404", "Boeing 737", "port 8080".
bool is_numbered(std::string_view word) {
  constexpr auto kNumbered =
      std::to_array<std::string_view>({"http", "error", "status", "port", "flight", "boeing", "airbus", "route",
                                       "highway", "hwy", "interstate", "psalm", "room", "rm", "model", "ad", "a.d"});
  return std::ranges::find(kNumbered, word) != kNumbered.end();
}

/// Whether a number of three or four digits is read in pairs: "Boeing 737", "Office 365.", "RTX 4090 has", "450 BC".
bool is_in_pairs(const EnglishCursor& text, std::string_view number) {
  constexpr std::size_t kLeast = 3, kMost = 4;
  if (number.size() < kLeast || number.size() > kMost || !is_all_digits(number) || number.front() == '0' ||
      number.ends_with("00"))
    return false;
  const auto next = text.core(1);
  if (next == "BC" || next == "BCE" || next == "B.C" || next == "AD" || next == "CE") return true;
  const auto* before = text.before();
  const auto name = text.small_before();
  if (text.has_words() && text.last_word() == "to") return false;  // "the Senate 51-49"
  if (!before || before->behind.find_first_not_of('.') != std::string::npos || name.empty()) return false;
  if (is_numbered(name) || text.small_before(2) == "flight") return true;  // "flight BA 286"
  constexpr auto kGoesOn = std::to_array<std::string_view>({"is", "was", "has", "had", "and", "or", "in", "at", "on",
                                                            "for", "to", "from", "with", "will", "near", "by", "can"});
  constexpr auto kCounts =
      std::to_array<std::string_view>({"page", "chapter", "line", "verse", "figure", "table", "lot"});
  const bool counts_nothing = next.empty() || !text.token(0)->behind.empty() || text.token(1)->is_opened ||
                              std::ranges::find(kGoesOn, next) != kGoesOn.end();
  return counts_nothing && before->behind.empty() && is_ascii_upper(before->core.front()) && text.before(2) &&
         !text.is_shouted() && !month_name(before->core) && !weekday_name(before->core) &&
         std::ranges::find(kCounts, name) == kCounts.end();
}

/// "Python 3.12" is "three point twelve": a version of what is before it.
std::optional<std::string> version_words(const EnglishCursor& text, std::string_view plain) {
  constexpr auto kSoftware = std::to_array<std::string_view>(
      {"python", "node",       "ubuntu",     "php",     "java",  "perl",   "rust",   "kernel",
       "linux",  "postgres",   "postgresql", "mysql",   "redis", "django", "golang", "swift",
       "kotlin", "kubernetes", "ios",        "android", "macos", "debian"});
  const auto point = plain.find('.');
  if (point == plain.npos || std::ranges::find(kSoftware, text.small_before()) == kSoftware.end()) return std::nullopt;
  const auto minor = plain.substr(point + 1);
  const auto words = minor.size() != 2      ? digit_words(minor)
                     : minor.front() == '0' ? "oh " + cardinal_words(minor.substr(1))
                                            : cardinal_words(minor);
  return cardinal_words(plain.substr(0, point)) + " point " + words;
}

void read_plain_number(EnglishCursor& text, std::string_view number, const std::string& plain) {
  const bool has_unit = has_unit_behind(text);
  if (may_be_year(number) && !has_unit) {
    text.add_words(year_words(plain));
    return;
  }
  if (!has_unit && is_in_pairs(text, number)) {
    text.add_words(paired_words(plain));
    return;
  }
  if (const auto version = version_words(text, plain))
    text.add_words(*version);
  else if (number == "00")
    text.add_words("double zero");
  else
    text.add_words(has_unit ? counted_words(number) : decimal_words(plain));
  const bool has_fraction = is_all_digits(plain) && read_fraction_behind(text);
  read_unit_behind(text, plain == "1" && !has_fraction);
}

/// Whether what follows is counted in thousands and more: "users", "people", "dollar".
bool is_counted(std::string_view word) {
  constexpr std::array<std::string_view, 6> kCounted{"people", "dollar", "euro", "pound", "yen", "rupee"};
  constexpr std::size_t kShort = 3;
  const bool is_plural = word.size() > kShort && word.ends_with('s') && !is_ascii_upper(word.front());
  return is_plural || std::ranges::find(kCounted, word) != kCounted.end();
}

/// "50K users", "1.5M", "100M dollar"; one character is read by its name where it multiplies nothing: "5G", "4K", "3D".
bool read_scale_behind(EnglishCursor& text, const std::string& plain, std::string_view behind) {
  constexpr std::size_t kHundreds = 3;
  const auto scale = scale_name(behind);
  const bool is_initial = behind.size() == 1 && is_ascii_alphabetic(behind.front());
  const bool is_near = text.token(0)->behind.empty();
  const auto currency = is_near ? currency_sign(text.core(1)) : std::string_view();
  const bool is_next_counted = is_near && (is_counted(text.core(1)) || !currency.empty());
  const bool is_thousand = scale == "thousand";
  const bool is_large = plain.size() >= kHundreds || (plain.size() == 2 && (plain >= "20" || !is_thousand)) ||
                        (scale == "million" && plain != "3") || plain == "1";  // also "1.5", not the firm "3M"
  const bool is_meter = behind == "m" && !(is_next_counted && !text.core(1).ends_with("ters"));
  constexpr auto kMore = std::to_array<std::string_view>({"daily", "weekly", "monthly", "a", "per", "faster", "more",
                                                          "as", "the", "larger", "bigger", "better", "cheaper",
                                                          "longer", "higher", "slower", "smaller", "less"});
  if (behind == "x" && is_near && std::ranges::find(kMore, text.core(1)) != kMore.end()) {  // "3x daily"
    text.add_words(decimal_words(plain) + (plain == "1" ? " time" : " times"));
    return true;
  }
  constexpr auto kNumberedParts =
      std::to_array<std::string_view>({"exit", "apt", "apartment", "unit", "gate", "seat", "room", "rm", "row", "flat",
                                       "suite", "class", "form", "section", "district", "zone", "ward", "platform"});
  const bool is_numbered_part =
      is_initial && std::ranges::find(kNumberedParts, text.small_before()) != kNumberedParts.end();  // "Exit 14B"
  if (scale && !is_numbered_part && !is_meter && plain != "401" && (behind.size() > 1 || is_large || is_next_counted)) {
    text.add_words(decimal_words(plain) + " " + std::string(*scale));
    if (currency.empty()) return true;
    text.advance();  // "2M EUR"
    std::size_t size = 0;
    const auto* names = currency_at_front(currency, size);
    const bool is_attribute = text.token(0)->behind.empty() && describes_noun(text, "", 1);
    text.add_words(is_attribute ? names->one : names->many);
    return true;
  }
  const bool is_before_name = is_near && !text.core(1).empty() && is_ascii_upper(text.core(1).front());
  if ((behind == "F" || behind == "C") && plain.size() > 1 && is_of_degrees(text) && !is_before_name) {
    text.add_words(decimal_words(plain) + (behind == "F" ? " degrees fahrenheit" : " degrees celsius"));
    return true;
  }
  if (!is_initial || may_be_unit(behind.front(), true)) return false;
  const bool is_resolution = behind == "p" && plain.size() >= kHundreds && is_all_digits(plain);  // "1080p"
  text.add_words(is_resolution ? paired_words(plain) : decimal_words(plain));
  text.spell(behind);
  return true;
}

/// "3,5 km" and "2,5%": a decimal comma, as what follows shows.
bool has_decimal_comma(const EnglishCursor& text, std::string_view rest) {
  constexpr std::size_t kMostDecimals = 2;
  if (rest.empty() || rest.front() != ',') return false;
  const auto decimals = std::min(rest.find_first_not_of(kDigits, 1), rest.size()) - 1;
  const auto behind = rest.substr(1 + decimals);
  if (decimals == 0 || decimals > kMostDecimals) return false;
  return behind.empty() ? has_unit_behind(text) : behind == "%" || unit_name(behind, false).has_value();
}

/// "-20" behind "10", ":9" behind "16".
bool is_rest_of_range(std::string_view rest) {
  const auto number = number_at_front(rest.substr(1));
  const bool is_ratio = rest.front() == ':' && number.size() + 1 == rest.size();
  return !number.empty() && (rest.front() == '-' || is_ratio);
}

/// "19-3/4in", "2-1/2": the fraction belongs to the number before it. `rest` begins with the dash.
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

/// "10%-15%", "5kg-10kg".
bool read_range_of_amounts(EnglishCursor& text, std::string_view number, std::string_view rest) {
  const auto dash = rest.find('-');
  if (dash == rest.npos || dash == 0 || number_at_front(rest.substr(dash + 1)).empty()) return false;
  const auto unit = rest.substr(0, dash);
  const auto name = unit == "%" ? std::optional<std::string>("percent") : unit_name(unit, false);
  if (!name || (unit.size() == 1 && unit != "%")) return false;
  text.add_words(counted_words(number) + " " + *name + " to");
  text.replace_core(std::string(rest.substr(dash + 1)));
  return read_number(text);
}

bool read_range(EnglishCursor& text, const std::string& first, std::string_view second) {
  const auto of = text.small_before();
  const bool is_of_case = of == "no" || of == "case" || of == "docket" || of == "ref";  // "case no. 24-1077"
  const bool is_code = is_of_case && first.size() < second.size();
  if ((of == "law" || of == "l" || is_code) && is_all_digits(second)) {  // "Public Law 95-372"
    text.add_words(cardinal_words(first) + " dash " + cardinal_words(second));
    return true;
  }
  const bool is_equation = second.find('=') != second.npos;  // "5-3=2"
  text.add_words((may_be_year(first) ? year_words(first) : decimal_words(first)) + (is_equation ? " minus" : " to"));
  text.replace_core(std::string(second));
  return read_time(text) || read_number(text);
}

bool read_fraction(EnglishCursor& text, const std::string& above, std::string_view rest) {
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
  const bool is_pair = whole == "24/7" || whole == "9/11" || whole == "50/50";
  if (above == below && !is_pair) {  // "10/10"
    text.add_words(cardinal_words(above) + " out of " + cardinal_words(below));
    return true;
  }
  constexpr auto kGoesOn = std::to_array<std::string_view>(
      {"for", "from", "on", "but", "because", "overall", "rating", "score", "and"});  // not "a 3/10 of that"
  const bool is_last = text.core(1).empty() || !text.token(0)->behind.empty() ||
                       std::ranges::find(kGoesOn, text.core(1)) != kGoesOn.end();
  const bool is_rating = below == "10" && is_last && whole.find('/') != whole.npos &&
                         (text.small_before() == "a" || text.small_before() == "rated" || text.has_word("rating"));
  if (is_rating) {  // "a 7/10"
    text.add_words(cardinal_words(above) + " out of ten");
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
  if (!is_pair) read_unit_behind(text, true);  // "1/1000 s"
  return true;
}

/// "Isaiah 66:13".
bool read_verse(EnglishCursor& text) {
  constexpr auto kScriptures = std::to_array<std::string_view>(
      {"genesis",     "exodus",    "leviticus",  "numbers",      "deuteronomy", "joshua",        "ruth",
       "samuel",      "kings",     "chronicles", "ezra",         "nehemiah",    "esther",        "job",
       "psalm",       "psalms",    "proverbs",   "ecclesiastes", "isaiah",      "jeremiah",      "ezekiel",
       "daniel",      "hosea",     "joel",       "amos",         "jonah",       "micah",         "zechariah",
       "malachi",     "matthew",   "mark",       "luke",         "john",        "acts",          "romans",
       "corinthians", "galatians", "ephesians",  "philippians",  "colossians",  "thessalonians", "timothy",
       "titus",       "hebrews",   "james",      "peter",        "jude",        "revelation"});
  const auto parts = split(text.core(0), ':');
  if (parts.size() != 2 || std::ranges::find(kScriptures, text.small_before()) == kScriptures.end()) return false;
  const auto verses = split(parts[1], '-');
  if (!is_all_digits(parts[0]) || verses.size() > 2 || !std::ranges::all_of(verses, is_all_digits)) return false;
  text.add_words(cardinal_words(parts[0]) + " " +
                 joined(verses, " to ", [](std::string_view verse) { return cardinal_words(verse); }));
  return true;
}

}  // namespace

bool read_groups(EnglishCursor& text) {
  if (read_verse(text)) return true;
  const auto words = digit_group_words(text.core(0));
  if (words) text.add_words(*words);
  return words.has_value();
}

bool read_number(EnglishCursor& text) {
  std::string_view word = text.core(0);
  const bool is_signed = word.size() > 1 && (is_ascii_digit(word[1]) || word[1] == '.');
  const bool is_negative = is_signed && word.front() == '-', is_positive = is_signed && word.front() == '+';
  const bool is_old = word.starts_with('\'');
  if (is_negative || is_positive || is_old) word.remove_prefix(1);
  const auto number = number_at_front(word);
  if (number.empty()) return false;
  const auto rest = word.substr(number.size());
  std::string plain = without_commas(number);
  if (has_decimal_comma(text, rest)) {
    text.replace_core((is_negative ? "-" : "") + plain + "." + std::string(rest.substr(1)));
    return read_number(text);
  }
  const bool is_whole = is_all_digits(plain);
  const auto ending = rest == ascii_upper(rest) ? ascii_lower(rest) : std::string(rest);
  if (is_negative || is_positive) text.add_words(is_negative ? "minus" : "plus");
  if (rest.empty() && is_old && plain.size() == 2 && plain.front() == '0') {
    text.add_words("oh " + cardinal_words(plain.substr(1)));  // "'08"
  } else if (rest.empty()) {
    read_plain_number(text, number, plain);
  } else if (rest == "%") {
    text.add_words(counted_words(number) + " percent");
  } else if (is_whole && (ending == "st" || ending == "nd" || ending == "rd" || ending == "th")) {
    text.add_words(ordinal_words(plain));
  } else if (is_whole && (rest == "s" || rest == "'s")) {
    text.add_words(
        plural_of_number(plain.size() == 4 || plain.size() == 2 ? year_words(plain) : cardinal_words(plain)));
  } else if (read_scale_behind(text, plain, rest)) {
    return true;
  } else if (const auto unit = unit_name(rest, plain == "1" || is_attribute(text, rest));
             unit && (rest.size() > 1 || may_be_unit(rest[0], true))) {
    text.add_words(counted_words(number) + " " + *unit);
  } else if (read_mixed_number(text, plain, rest) || read_range_of_amounts(text, number, rest)) {
    return true;
  } else if (is_rest_of_range(rest)) {
    return read_range(text, plain, rest.substr(1));
  } else if (!read_fraction(text, plain, rest)) {
    text.replace_core(std::string(word));
    return false;
  }
  return true;
}

}  // namespace tutti
