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

/// "(212) 555-0199".
bool read_area_and_number(EnglishCursor& text) {
  const auto groups = split(text.core(1), '-');
  if (text.core(0).size() != 3 || groups.size() != 2 || groups[0].size() != 3 || groups[1].size() != 4 ||
      !std::ranges::all_of(groups, is_all_digits))
    return false;
  text.add_words(digit_words(text.core(0)));
  text.add_mark(',');
  for (const auto group : groups) text.add_words(digit_words(group));
  text.advance();
  return true;
}

/// "5 €" and "EUR 10" become one token, with the sign first as in "€5".
void join_amount(EnglishCursor& text) {
  const auto next = text.core(1);
  const auto is_number = [](std::string_view word) { return !word.empty() && is_ascii_digit(word.back()); };
  const bool is_near = text.token(0)->behind.empty() && !next.empty() && !text.token(1)->is_opened;
  const bool is_sign_first = !currency_sign(text.core(0)).empty() && is_number(next);
  const bool is_sign_behind = is_number(text.core(0)) && !currency_sign(next.substr(0, next.find('/'))).empty();
  std::string amount(text.core(0));
  if (is_near && (is_sign_first || is_sign_behind)) {
    amount += next;
    text.advance();
  }
  text.replace_core(amount_with_sign_first(amount));
}

bool read_amount(EnglishCursor& text, const std::string& plain, const Currency& currency) {
  const auto point = plain.find('.');
  const auto whole = plain.substr(0, point);
  const bool has_cents = point != plain.npos && plain.size() - point == 3;
  if (point != plain.npos && !has_cents) {
    text.add_words(decimal_words(plain) + " " + std::string(currency.many));
    return true;
  }
  text.add_words(cardinal_words(whole) + " " + std::string(whole == "1" ? currency.one : currency.many));
  const auto cents = has_cents ? plain.substr(point + 1) : "00";
  if (cents == "00") return true;
  const auto value = std::to_string(std::stoi(cents));
  text.add_words("and " + cardinal_words(value) + " " + std::string(value == "1" ? currency.cent : currency.cents));
  return true;
}

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5".
bool read_amount_of_money(EnglishCursor& text) {
  std::string_view rest = text.core(0);
  std::size_t sign_size = 0;
  const Currency* currency = currency_at_front(rest, sign_size);
  if (!currency) return false;
  rest.remove_prefix(sign_size);
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  const auto number = number_at_front(rest);
  if (number.empty()) return false;
  if (is_negative) text.add_words("minus");
  const std::string plain = without_commas(number);
  const auto behind = rest.substr(number.size());
  if (behind.size() > 1 && behind.front() == '-') {  // "$5-10": "dollars" and a scale belong to both
    std::size_t second_size = 0;
    const bool has_sign = currency_at_front(behind.substr(1), second_size) != nullptr;
    std::string second =
        (has_sign ? "" : std::string(text.core(0).substr(0, sign_size))) + std::string(behind.substr(1));
    if (!is_ascii_digit(second.back()) && !scale_name(second.substr(second.find_last_of(kDigits) + 1))) return false;
    text.add_words(decimal_words(plain) + " to");
    text.replace_core(std::move(second));
    return read_amount_of_money(text);
  }
  const auto scale = behind.empty() && text.token(0)->behind.empty() ? scale_name(text.core(1)) : scale_name(behind);
  if (scale) {
    text.add_words(decimal_words(plain) + " " + std::string(*scale) + " " + std::string(currency->many));
    if (behind.empty()) text.advance();
    return true;
  }
  return behind.empty() && read_amount(text, plain, *currency);
}

/// Words that go on behind an amount without being what it describes: "5 m of", "12 V is", "3 m high", "5 min ago".
bool goes_on_behind_amount(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"about",   "above",    "across",      "after",      "afterwards", "again",    "against",  "ago",
       "ahead",   "all",      "almost",      "alone",      "along",      "also",     "although", "among",
       "and",     "any",      "apart",       "are",        "around",     "away",     "back",     "backward",
       "because", "been",     "before",      "behind",     "below",      "between",  "beyond",   "both",
       "broad",   "but",      "came",        "can",        "comes",      "costs",    "could",    "deep",
       "did",     "does",     "down",        "downstream", "downward",   "each",     "earlier",  "east",
       "either",  "equals",   "even",        "ever",       "every",      "except",   "fast",     "faster",
       "fell",    "flat",     "for",         "forward",    "free",       "from",     "further",  "gave",
       "gets",    "gives",    "goes",        "got",        "had",        "has",      "have",     "here",
       "high",    "his",      "however",     "inland",     "inside",     "instead",  "into",     "its",
       "just",    "keeps",    "kept",        "late",       "later",      "left",     "less",     "like",
       "long",    "longer",   "lost",        "made",       "makes",      "many",     "may",      "maybe",
       "means",   "might",    "minus",       "more",       "most",       "much",     "must",     "near",
       "needs",   "never",    "nor",         "north",      "not",        "now",      "off",      "old",
       "once",    "onward",   "onwards",     "our",        "out",        "outside",  "over",     "past",
       "per",     "plus",     "ran",         "rose",       "round",      "seemed",   "sharp",    "she",
       "should",  "since",    "some",        "south",      "still",      "straight", "such",     "takes",
       "tall",    "than",     "that",        "the",        "their",      "then",     "there",    "thereafter",
       "these",   "they",     "thick",       "this",       "though",     "through",  "till",     "times",
       "today",   "together", "tomorrow",    "too",        "took",       "total",    "toward",   "towards",
       "twice",   "under",    "underground", "until",      "upon",       "upstream", "upward",   "upwards",
       "via",     "was",      "well",        "went",       "were",       "west",     "what",     "when",
       "where",   "which",    "while",       "who",        "wide",       "will",     "with",     "within",
       "without", "works",    "would",       "yesterday",  "yet",        "you",      "your"});
  return std::ranges::find(kWords, word) != kWords.end();
}

/// Whether the amount before the token `ahead` describes the noun that this is: "2000 W heater", "a 5 kg bag", not "5 m
/// high" or "2 kg rice". English has the unit in the singular then.
bool describes_noun(const EnglishCursor& text, std::string_view unit, std::size_t ahead) {
  const EnglishToken* token = text.token(ahead);
  const std::string word = ascii_lower(text.core(ahead));
  constexpr std::size_t kShortest = 3;
  if (!token || token->is_sign || token->is_opened || token->is_ipa || word.size() < kShortest ||
      !std::ranges::all_of(word, is_ascii_alphabetic) || goes_on_behind_amount(word))
    return false;
  const EnglishToken* before = text.before();
  const std::string article = before && before->behind.empty() ? ascii_lower(before->core) : std::string();
  if (article == "a" || article == "an") return true;
  constexpr std::size_t kLongest = 4;  // of "bed" and "king"
  const bool is_verb_or_adverb = (word.size() >= kLongest && word.ends_with("ed") && !word.ends_with("eed")) ||
                                 (word.size() > kLongest && (word.ends_with("ing") || word.ends_with("ly")));
  return word == text.core(ahead) && !is_verb_or_adverb && !is_of_substance(unit);
}

/// The unit behind a number, and how many tokens it takes.
struct UnitBehind {
  std::string name{};
  std::size_t tokens = 1;
};

/// "5 km", "5 in." and "5 sq ft", not "5 in the morning", "5 N Main Street".
std::optional<UnitBehind> unit_behind(const EnglishCursor& text, bool is_one) {
  const EnglishToken* token = text.token(1);
  if (!token || token->is_sign || token->is_opened || !text.token(0)->behind.empty()) return std::nullopt;
  const auto written = text.core(1);
  const auto small = ascii_lower(written);
  if (small == "sq" || small == "cu") {
    const bool is_singular = is_one || (token->behind.size() <= 1 && text.token(2) && text.token(2)->behind.empty() &&
                                        describes_noun(text, text.core(2), 3));
    const auto unit = unit_name(text.core(2), is_singular);
    if (!unit || token->behind.size() > (token->has_point() ? 1 : 0)) return std::nullopt;
    return UnitBehind{(small == "sq" ? "square " : "cubic ") + *unit, 2};
  }
  const bool is_near = token->behind.empty() || (small == "in" && token->behind == ".");
  const auto unit = unit_name(written, is_one || (is_near && describes_noun(text, written, 2)));
  if (!unit || (small == "in" && !token->has_point())) return std::nullopt;
  if (written.size() > 1) return UnitBehind{*unit};
  const bool is_before_name = is_ascii_upper(written.front()) && token->behind.empty() && !text.core(2).empty() &&
                              is_ascii_upper(text.core(2).front());
  return may_be_unit(written.front(), false) && !is_before_name ? std::optional(UnitBehind{*unit}) : std::nullopt;
}

/// Whether the token, a number with its unit, describes the noun behind it: "2000W heater".
bool is_attribute(const EnglishCursor& text, std::string_view unit) {
  return text.token(0)->behind.empty() && describes_noun(text, unit, 1);
}

/// A number that counts: "1200" is "twelve hundred", as "1,200" is not.
std::string counted_words(std::string_view number) {
  return may_be_year(number) && number.ends_with("00") ? year_words(number) : decimal_words(without_commas(number));
}

/// "2 1/2 cups": the fraction belongs to the number before it.
bool read_fraction_behind(EnglishCursor& text) {
  constexpr std::size_t kMostDigits = 2;
  const auto parts = split(text.core(1), '/');
  if (parts.size() != 2 || !std::ranges::all_of(parts, is_all_digits) || !text.token(0)->behind.empty()) return false;
  const auto above = parts[0], below = parts[1];
  const bool is_below_one = above.size() < below.size() || (above.size() == below.size() && above < below);
  if (below.size() > kMostDigits || !is_below_one || above == "0") return false;
  std::string words = fraction_words(above, below);
  if (above == "1") words.replace(0, std::string_view("one").size(), words.starts_with("one e") ? "an" : "a");
  text.add_words("and " + words);
  text.advance();
  return true;
}

void read_plain_number(EnglishCursor& text, std::string_view number, const std::string& plain) {
  const bool has_unit = unit_behind(text, false).has_value();
  if (may_be_year(number) && !has_unit) {
    text.add_words(year_words(plain));
    return;
  }
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
  if (scale && !is_meter && plain != "401" && (behind.size() > 1 || is_large || is_next_counted)) {
    text.add_words(decimal_words(plain) + " " + std::string(*scale));
    if (currency.empty()) return true;
    text.advance();  // "2M EUR"
    std::size_t size = 0;
    text.add_words(currency_at_front(currency, size)->many);
    return true;
  }
  if (!is_initial || may_be_unit(behind.front(), true)) return false;
  text.add_words(decimal_words(plain));
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
  return behind.empty() ? unit_behind(text, false).has_value() : behind == "%" || unit_name(behind, false).has_value();
}

/// "-20" behind "10", ":9" behind "16".
bool is_rest_of_range(std::string_view rest) {
  const auto number = number_at_front(rest.substr(1));
  const bool is_ratio = rest.front() == ':' && number.size() + 1 == rest.size();
  return !number.empty() && (rest.front() == '-' || is_ratio);
}

bool read_range(EnglishCursor& text, const std::string& first, std::string_view second) {
  const bool is_equation = second.find('=') != second.npos;  // "5-3=2"
  text.add_words((may_be_year(first) ? year_words(first) : decimal_words(first)) + (is_equation ? " minus" : " to"));
  text.replace_core(std::string(second));
  return read_time(text) || read_number(text);
}

bool read_fraction(EnglishCursor& text, const std::string& above, std::string_view rest) {
  const auto below = rest.substr(1);
  if (rest.front() != '/' || !is_all_digits(below) || !is_all_digits(above)) return false;
  const auto whole = text.core(0);
  const bool is_pair = whole == "24/7" || whole == "9/11" || whole == "50/50";
  constexpr std::size_t kTens = 2;
  const bool is_over = below.size() >= kTens && below > "20" && above.size() >= below.size() &&
                       !(above.size() == below.size() && above < below);
  text.add_words(is_pair   ? cardinal_words(above) + " " + cardinal_words(below)
                 : is_over ? cardinal_words(above) + " over " + cardinal_words(below)
                           : fraction_words(above, below));
  if (!is_pair) read_unit_behind(text, true);  // "1/1000 s"
  return true;
}

}  // namespace

void read_unit_behind(EnglishCursor& text, bool is_one) {
  const auto unit = unit_behind(text, is_one);
  if (!unit) return;
  for (std::size_t i = 0; i < unit->tokens; ++i) text.advance();
  text.take_point();
  text.add_words(unit->name);
}

bool read_telephone(EnglishCursor& text) {
  const auto country = text.core(0);
  if (text.token(0)->is_opened && text.token(0)->behind == ")" && is_all_digits(country))
    return read_area_and_number(text);
  constexpr std::size_t kLongest = 4;
  if (country.size() < 2 || country.size() > kLongest || country.front() != '+' || !is_all_digits(country.substr(1)))
    return false;
  if (!is_all_digits(text.core(1)) || text.core(1).size() < 2 || !text.token(0)->behind.empty()) return false;
  text.add_words("plus " + digit_words(country.substr(1)));
  while (is_all_digits(text.core(1)) && text.token(0)->behind.empty()) {
    text.advance();
    text.add_mark(',');
    text.add_words(digit_words(text.core(0)));
  }
  return true;
}

bool read_groups(EnglishCursor& text) {
  const auto words = digit_group_words(text.core(0));
  if (words) text.add_words(*words);
  return words.has_value();
}

bool read_money(EnglishCursor& text) {
  join_amount(text);
  const std::string whole(text.core(0));
  const auto slash = whole.find('/');
  const auto rate = slash == whole.npos ? "" : whole.substr(slash + 1);
  if (rate.empty() || !std::ranges::all_of(rate, is_ascii_alphabetic)) return read_amount_of_money(text);
  text.replace_core(whole.substr(0, slash));
  if (read_amount_of_money(text)) {
    text.add_words("per " + unit_of_rate(rate));
    return true;
  }
  text.replace_core(whole);
  return false;
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
  if (rest.empty()) {
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
  } else if (is_rest_of_range(rest)) {
    return read_range(text, plain, rest.substr(1));
  } else if (!read_fraction(text, plain, rest)) {
    text.replace_core(std::string(word));
    return false;
  }
  return true;
}

}  // namespace tutti
