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

/// What is numbered rather than counted: "HTTP 404", "Boeing 737", "port 8080".
bool is_numbered(std::string_view word) {
  constexpr auto kNumbered = std::to_array<std::string_view>(
      {"http",       "error", "status", "port", "flight", "boeing", "airbus", "route", "highway", "hwy",
       "interstate", "psalm", "room",   "rm",   "model",  "ad",     "a.d",    "h.r",   "s.b",     "h.b"});
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
  const bool is_status = number.size() == kLeast && (number.front() == '4' || number.front() == '5') &&
                         (next == "error" || next == "response" || next == "status" || next == "page");
  if (is_status && text.small_before() == "a") return true;  // "a 404 error"
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
      {"python",     "node",   "ubuntu", "php",    "java",   "perl",  "rust",   "kernel",     "linux",  "postgres",
       "postgresql", "mysql",  "redis",  "django", "golang", "swift", "kotlin", "kubernetes", "ios",    "android",
       "macos",      "debian", "cmake",  "gcc",    "clang",  "go",    "torch",  "pytorch",    "numpy",  "cuda",
       "ruby",       "rails",  "bash",   "git",    "docker", "nginx", "vim",    "gnome",      "fedora", "openssl"});
  const auto point = plain.find('.');
  const auto is_software = [&](const std::string& name) {
    return std::ranges::find(kSoftware, name) != kSoftware.end();
  };
  const bool is_at_least =
      text.before() && text.before()->is_sign && is_software(text.small_before(2));  // "CMake >= 3.24"
  const bool is_version = (text.has_word("version") || text.has_word("versions")) && text.small_before() != "by" &&
                          !has_unit_behind(text) && text.core(1) != "times" && text.core(1) != "percent";
  if (point == plain.npos || !(is_software(text.small_before()) || is_at_least || is_version)) return std::nullopt;
  const auto minor = plain.substr(point + 1);
  const auto words = minor.size() == 2 ? two_digit_words(minor) : digit_words(minor);
  return cardinal_words(plain.substr(0, point)) + " point " + words;
}

void read_plain_number(EnglishCursor& text, std::string_view number, const std::string& plain) {
  const bool is_of_product = (text.core(1) == "x" || text.core(1) == "\u00D7") && text.token(0)->behind.empty();
  const bool has_unit = has_unit_behind(text) || is_of_product;
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
  const auto at_least = behind.ends_with('+') ? scale_name(behind.substr(0, behind.size() - 1)) : std::nullopt;
  if (at_least) {  // "700k+ homes"
    text.add_words(decimal_words(plain) + " " + std::string(*at_least) + " plus");
    return true;
  }
  const auto scale = scale_name(behind);
  const bool is_initial = behind.size() == 1 && is_ascii_alphabetic(behind.front());
  const bool is_near = text.token(0)->behind.empty();
  const auto currency = is_near ? currency_sign(text.core(1)) : std::string_view();
  const bool is_next_counted = is_near && (is_counted(text.core(1)) || !currency.empty());
  const bool is_thousand = scale == "thousand";
  const bool is_of_engine = behind == "T" && !is_next_counted;  // "a 2.0T engine"
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
  if (behind == "x" && is_near && !number_at_front(text.core(1)).empty()) {  // "13x 9 x 2"
    text.add_words(decimal_words(plain) + " by");
    return true;
  }
  constexpr auto kNumberedParts = std::to_array<std::string_view>(
      {"exit",  "apt",  "apartment", "unit",     "gate", "seat", "room",     "rm",  "row",   "flat", "suite",
       "class", "form", "section",   "district", "zone", "ward", "platform", "rte", "route", "no"});
  const bool is_numbered_part =
      is_initial && std::ranges::find(kNumberedParts, text.small_before()) != kNumberedParts.end();  // "Exit 14B"
  if (scale && !is_numbered_part && !is_of_engine && !is_meter && plain != "401" &&
      (behind.size() > 1 || is_large || is_next_counted)) {
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
  const bool is_of_route = is_numbered_part && is_ascii_upper(behind.front());  // "Rte. 9W"
  if (!is_initial || (may_be_unit(behind.front(), true) && !is_of_route)) return false;
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
  constexpr auto kMeasured = std::to_array<std::string_view>(
      {"hours", "minutes", "seconds", "days", "years", "meters", "metres", "kilometers", "kilometres", "percent",
       "million", "billion", "euros", "liters", "litres", "degrees", "points", "times"});
  const bool is_measured = std::ranges::find(kMeasured, text.core(1)) != kMeasured.end();
  return behind.empty() ? has_unit_behind(text) || is_measured : behind == "%" || unit_name(behind, false).has_value();
}

/// "-20" behind "10", ":9" behind "16".
bool is_rest_of_range(std::string_view rest) {
  const auto number = number_at_front(rest.substr(1));
  const bool is_ratio = rest.front() == ':' && number.size() + 1 == rest.size();
  return !number.empty() && (rest.front() == '-' || is_ratio);
}

/// "10%-15%", "5kg-10kg", and "180\u00B0C/350\u00B0F", which is the same twice.
bool read_range_of_amounts(EnglishCursor& text, std::string_view number, std::string_view rest) {
  const bool is_twice = rest.starts_with("\u00B0") && rest.find('/') != rest.npos;
  const auto dash = rest.find(is_twice ? '/' : '-');
  if (dash == rest.npos || dash == 0 || number_at_front(rest.substr(dash + 1)).empty()) return false;
  const auto unit = rest.substr(0, dash);
  const auto name = unit == "%" ? std::optional<std::string>("percent") : unit_name(unit, false);
  if (!name || (unit.size() == 1 && unit != "%")) return false;
  text.add_words(counted_words(number) + " " + *name + (is_twice ? "" : " to"));
  if (is_twice) text.add_mark(',');
  text.replace_core(std::string(rest.substr(dash + 1)));
  return read_number(text);
}

/// Whether "5s" is of seconds, not "the 90s" or "two 5s".
bool is_duration(const EnglishCursor& text, std::string_view digits) {
  constexpr auto kBefore = std::to_array<std::string_view>(
      {"than", "for", "in", "after", "within", "under", "over", "about", "every", "took", "takes", "least", "most"});
  return digits.back() != '0' && std::ranges::find(kBefore, text.small_before()) != kBefore.end();
}

bool read_range(EnglishCursor& text, const std::string& first, std::string_view second) {
  const auto of = text.small_before();
  const bool is_of_case = of == "no" || of == "case" || of == "docket" || of == "ref";  // "case no. 24-1077"
  const bool is_code = is_of_case && first.size() < second.size();
  if ((of == "law" || of == "l" || is_code) && is_all_digits(second)) {  // "Public Law 95-372"
    text.add_words(cardinal_words(first) + " dash " + cardinal_words(second));
    return true;
  }
  if (first == "50" && second == "50") {
    text.add_words("fifty fifty");
    return true;
  }
  if (of == "boeing" && is_all_digits(second)) {  // "737-800"
    text.add_words(paired_words(first) + " " + paired_words(second));
    return true;
  }
  const bool is_equation = second.find('=') != second.npos;  // "5-3=2"
  text.add_words((may_be_year(first) ? year_words(first) : decimal_words(first)) + (is_equation ? " minus" : " to"));
  text.replace_core(std::string(second));
  return read_time(text) || read_number(text);
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

/// "802.11ax".
bool read_radio_standard(EnglishCursor& text) {
  constexpr std::string_view kFamily = "802.11";
  constexpr std::size_t kLongest = 2;
  const auto word = text.core(0);
  if (!word.starts_with(kFamily)) return false;
  const std::string variant(word.substr(kFamily.size()));
  if (variant.size() > kLongest || !std::ranges::all_of(variant, is_ascii_alphabetic)) return false;
  text.add_words("eight oh two point eleven");
  text.spell(variant);
  return true;
}

}  // namespace

bool read_groups(EnglishCursor& text) {
  if (read_verse(text) || read_radio_standard(text)) return true;
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
  constexpr std::string_view kToYear = "-'";
  const auto last = rest.starts_with(kToYear) ? rest.substr(kToYear.size()) : std::string_view();
  if (is_old && plain.size() == 2 && last.size() == 2 && is_all_digits(last)) {  // "'08-'09"
    text.add_words(two_digit_words(plain) + " to " + two_digit_words(last));
    return true;
  }
  if (rest.empty() && is_old && plain.size() == 2 && plain.front() == '0') {
    text.add_words(two_digit_words(plain));  // "'08"
  } else if (rest.empty()) {
    read_plain_number(text, number, plain);
  } else if (rest == "%") {
    text.add_words(counted_words(number) + " percent");
  } else if (is_whole && (ending == "st" || ending == "nd" || ending == "rd" || ending == "th")) {
    text.add_words(ordinal_words(plain));
  } else if (is_whole && (rest == "er" || rest == "ers")) {  // "49ers"
    const auto words = cardinal_words(plain);
    text.add_words(words + std::string(rest.substr(words.ends_with('e') ? 1 : 0)));
  } else if (rest == "s" && is_duration(text, plain)) {
    text.add_words(decimal_words(plain) + (plain == "1" ? " second" : " seconds"));  // "more than 5s"
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
