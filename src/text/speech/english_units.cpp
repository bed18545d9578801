#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/speech/amounts.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"

namespace tutti {
namespace {

/// Words that go on behind an amount without being what it describes: "5 m of", "12 V is", "3 m high", "5 min ago".
bool goes_on_behind_amount(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"about",       "above",      "across",    "after",     "afterwards", "again",      "against", "ago",
       "apiece",      "buys",       "cash",      "cheaper",   "extra",      "last",       "next",    "only",
       "please",      "right",      "incl",      "warmer",    "colder",     "cooler",     "hotter",  "higher",
       "lower",       "taller",     "wider",     "deeper",    "heavier",    "lighter",    "older",   "younger",
       "short",       "unless",     "whether",   "whichever", "worth",      "pays",       "ahead",   "all",
       "almost",      "alone",      "along",     "also",      "although",   "among",      "and",     "any",
       "apart",       "are",        "around",    "away",      "back",       "backward",   "because", "been",
       "before",      "behind",     "below",     "between",   "beyond",     "both",       "broad",   "but",
       "came",        "can",        "comes",     "costs",     "could",      "deep",       "did",     "does",
       "down",        "downstream", "downward",  "each",      "earlier",    "east",       "either",  "equals",
       "even",        "ever",       "every",     "except",    "fast",       "faster",     "fell",    "flat",
       "for",         "forward",    "free",      "from",      "further",    "gave",       "gets",    "gives",
       "goes",        "got",        "had",       "has",       "have",       "here",       "high",    "his",
       "however",     "inland",     "inside",    "instead",   "into",       "its",        "just",    "keeps",
       "kept",        "late",       "later",     "left",      "less",       "like",       "long",    "longer",
       "lost",        "made",       "makes",     "many",      "may",        "maybe",      "means",   "might",
       "minus",       "more",       "most",      "much",      "must",       "near",       "needs",   "never",
       "nor",         "north",      "not",       "now",       "off",        "old",        "once",    "onward",
       "onwards",     "our",        "out",       "outside",   "over",       "past",       "per",     "plus",
       "ran",         "rose",       "round",     "seemed",    "sharp",      "she",        "should",  "since",
       "some",        "south",      "still",     "straight",  "such",       "takes",      "tall",    "than",
       "that",        "the",        "their",     "then",      "there",      "thereafter", "these",   "they",
       "thick",       "this",       "though",    "through",   "till",       "times",      "today",   "together",
       "tomorrow",    "too",        "took",      "total",     "toward",     "towards",    "twice",   "under",
       "underground", "until",      "upon",      "upstream",  "upward",     "upwards",    "via",     "was",
       "well",        "went",       "were",      "west",      "what",       "when",       "where",   "which",
       "while",       "who",        "wide",      "will",      "with",       "within",     "without", "works",
       "increases",   "decreases",  "reduces",   "improves",  "raises",     "lowers",     "adds",    "clear",
       "adrift",      "would",      "yesterday", "yet",       "you",        "your",       "prior",   "sooner"});
  return std::ranges::find(kWords, word) != kWords.end();
}

bool is_determiner(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>({"a", "an", "the", "his", "her", "its", "their", "our", "my",
                                                           "your", "this", "that", "these", "those", "him", "them"});
  return std::ranges::find(kWords, word) != kWords.end();
}

/// The noun "can", behind which nothing is done.
bool is_can(const EnglishCursor& text, std::size_t ahead) {
  const auto next = text.core(ahead + 1);
  return text.core(ahead) == "can" && (next.empty() || next == "of" || !text.token(ahead)->behind.empty());
}

}  // namespace

bool describes_noun(const EnglishCursor& text, std::string_view unit, std::size_t ahead) {
  const EnglishToken* token = text.token(ahead);
  const std::string word = ascii_lower(text.core(ahead));
  if (!token || token->is_sign || token->is_opened || token->is_ipa || word.empty()) return false;
  const EnglishToken* before = text.before();
  const std::string article = before && before->behind.empty() ? text.small_before() : std::string();
  const bool has_article = article == "a" || article == "an";
  const auto first = text.core(ahead).front();
  if (has_article && (is_ascii_upper(first) || is_ascii_digit(first))) return true;  // "a 55 in. LED screen"
  constexpr std::size_t kShortest = 3;
  const bool is_word = word.size() >= kShortest && std::ranges::all_of(word, is_ascii_alphabetic);
  if (!is_word || (goes_on_behind_amount(word) && !(has_article && is_can(text, ahead)))) return false;
  if (token->behind.empty() && is_determiner(text.core(ahead + 1))) return false;  // "$80 buys a lunch"
  if (has_article) return true;
  const bool is_limit = word == "max" || word == "maximum" || word == "min" || word == "minimum";
  if (is_limit) return false;          // "$3/hr, $15 max."
  constexpr std::size_t kLongest = 4;  // of "bed" and "king"
  const bool is_verb_or_adverb = (word.size() >= kLongest && word.ends_with("ed") && !word.ends_with("eed")) ||
                                 (word.size() > kLongest && (word.ends_with("ing") || word.ends_with("ly")));
  constexpr auto kPortions = std::to_array<std::string_view>(
      {"dose",    "doses",    "tablet",   "tablets", "capsule", "capsules", "bag",     "bags",
       "bottle",  "bottles",  "pack",     "packs",   "box",     "jar",      "serving", "servings",
       "package", "packages", "capacity", "tank",    "tanks",   "model",    "drum"});
  const bool is_portion = std::ranges::find(kPortions, word) != kPortions.end();  // not "2 kg rice"
  return word == text.core(ahead) && !is_verb_or_adverb && (is_portion || !is_of_substance(unit));
}

namespace {

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
  if (small == "fl" && ascii_lower(text.core(2)) == "oz")
    return UnitBehind{is_one || describes_noun(text, "oz", 3) ? "fluid ounce" : "fluid ounces", 2};
  if (written == "L/100" && text.core(2) == "km") return UnitBehind{"liters per one hundred kilometers", 2};
  const auto next = text.core(2);
  const bool has_next_lower = !next.empty() && !is_ascii_upper(next.front());
  const bool is_near = token->behind.empty() || (token->behind == "." && (small == "in" || has_next_lower));
  if (small == "ft" && is_near && is_all_digits(next) && ascii_lower(text.core(3)) == "in") {  // "a 6 ft 2 in. man"
    const bool is_singular = is_one || describes_noun(text, "in", 4);
    return UnitBehind{is_singular ? "foot" : "feet"};
  }
  const bool is_line = !text.before() || !text.before(2);  // "1 c sugar" as a line of its own
  const bool is_of_recipe = token->behind == "." ? has_next_lower || text.has_word("cups") || text.has_word("teaspoon")
                                                 : token->behind.empty() && has_next_lower && is_line && written == "c";
  if (is_of_recipe && (written == "c" || written == "T")) {
    const std::string name = written == "c" ? "cup" : "tablespoon";
    return UnitBehind{is_one ? name : name + "s"};
  }
  const bool is_before_capital = !next.empty() && is_ascii_upper(next.front()) && token->behind.empty();
  if ((written == "F" || written == "C") && is_of_degrees(text) && !is_before_capital) {
    const std::string degrees = is_one ? "degree" : "degrees";
    return UnitBehind{degrees + (written == "F" ? " fahrenheit" : " celsius")};
  }
  const auto unit = unit_name(written, is_one || (is_near && describes_noun(text, written, 2)));
  const auto before = text.small_before();
  const bool is_behind_feet = before == "ft" || before == "feet" || before == "foot";  // "12 ft 6 in by 10 ft"
  if (!unit || (small == "in" && !token->has_point() && !is_behind_feet)) return std::nullopt;
  if (written.size() > 1) return UnitBehind{*unit};
  const bool is_before_name = is_ascii_upper(written.front()) && !next.empty() &&
                              (is_ascii_upper(next.front()) || is_ordinal(next)) &&  // "45 W. 21st St."
                              token->behind.find_first_not_of('.') == std::string::npos;
  if (is_route(text, 0)) return std::nullopt;  // "Route 9 N"
  return may_be_unit(written.front(), false) && !is_before_name ? std::optional(UnitBehind{*unit}) : std::nullopt;
}

}  // namespace

bool is_of_degrees(const EnglishCursor& text) {
  constexpr auto kBefore =
      std::to_array<std::string_view>({"to", "at", "of", "above", "below", "around", "about", "reached", "hit", "is",
                                       "was", "from", "near", "read", "reads", "registered", "showed", "shows"});
  constexpr auto kWarm = std::to_array<std::string_view>(
      {"temperature", "temperatures", "temp",       "temps",    "heat",    "heats",       "heated",       "heating",
       "heatwave",    "preheat",      "preheated",  "oven",     "bake",    "baked",       "roast",        "cook",
       "cooked",      "simmer",       "boil",       "boils",    "boiled",  "boiling",     "melts",        "melting",
       "freeze",      "freezes",      "freezing",   "frozen",   "freezer", "fridge",      "refrigerate",  "shade",
       "fever",       "weather",      "thermostat", "warm",     "warmed",  "warmer",      "warms",        "cool",
       "cooled",      "cools",        "cooler",     "cold",     "colder",  "hot",         "hotter",       "chill",
       "chilled",     "highs",        "lows",       "forecast", "degrees", "thermometer", "refrigerated", "stored",
       "incubated",   "incubator",    "mercury",    "wash",     "washed"});
  constexpr auto kNumbered = std::to_array<std::string_view>(
      {"seat", "seats", "seated", "row", "aisle", "gate", "boarding", "exit", "apt", "apartment", "room"});
  constexpr std::size_t kNear = 8;
  const auto is_one_of = [](const auto& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  const bool is_kept = text.before(2) && text.before(2)->core == "Store";  // "Store below 25 C"
  bool is_warm = text.small_before() == "hit" || is_kept, is_in_shade = false;
  for (std::size_t i = 1; i <= kNear; ++i) {
    const auto before = text.small_before(i), behind = ascii_lower(text.core(i));
    if (is_one_of(kNumbered, before) || is_one_of(kNumbered, behind)) return false;  // "My seat is 14C"
    is_in_shade = is_in_shade || behind == "shade";
    is_warm = is_warm || is_one_of(kWarm, before) || is_one_of(kWarm, behind);
  }
  const auto* other = text.token(1);
  const auto digits = other ? number_at_front(other->core) : std::string_view();
  const auto unit = other ? std::string_view(other->core).substr(digits.size()) : std::string_view();
  if (other && other->is_opened && !digits.empty() && (unit == "F" || unit == "C")) return true;
  if (text.has_word("celsius") || text.has_word("fahrenheit")) return true;  // "12C (54F)"
  return is_warm && (is_in_shade || is_one_of(kBefore, text.small_before()));
}

bool has_unit_behind(const EnglishCursor& text) {
  return unit_behind(text, false).has_value();
}

void read_unit_behind(EnglishCursor& text, bool is_one) {
  const auto unit = unit_behind(text, is_one);
  if (!unit) return;
  for (std::size_t i = 0; i < unit->tokens; ++i) text.advance();
  text.take_point();
  text.add_words(unit->name);
}

}  // namespace tutti
