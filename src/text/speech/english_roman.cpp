#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "text/speech/digit_groups.h"
#include "text/speech/english_cursor.h"
#include "text/speech/number_words.h"

namespace tutti {
namespace {

constexpr auto kRomanDigits = std::to_array<std::pair<std::string_view, int>>({{"M", 1000},
                                                                               {"CM", 900},
                                                                               {"D", 500},
                                                                               {"CD", 400},
                                                                               {"C", 100},
                                                                               {"XC", 90},
                                                                               {"L", 50},
                                                                               {"XL", 40},
                                                                               {"X", 10},
                                                                               {"IX", 9},
                                                                               {"V", 5},
                                                                               {"IV", 4},
                                                                               {"I", 1}});

std::string roman_figures(int value) {
  std::string figures;
  for (const auto& [written, worth] : kRomanDigits)
    for (; value >= worth; value -= worth) figures += written;
  return figures;
}

/// The value of Roman figures in capitals, 1 to 3999, written as they should be; none for "IIX" and other text.
std::optional<int> roman_value(std::string_view roman) {
  int value = 0;
  auto rest = roman;
  for (const auto& [written, worth] : kRomanDigits)
    for (; rest.starts_with(written); rest.remove_prefix(written.size())) value += worth;
  if (value == 0 || !rest.empty() || roman_figures(value) != roman) return std::nullopt;
  return value;
}

template <class List>
bool has(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// What is counted by figures behind it.
bool is_counted_by_figures(std::string_view word) {
  constexpr auto kCounted = std::to_array<std::string_view>(
      {"chapter", "part",    "volume", "act",   "section", "war",   "article", "scene",     "title",
       "book",    "phase",   "stage",  "type",  "class",   "level", "grade",   "appendix",  "figure",
       "table",   "page",    "round",  "mark",  "bowl",    "unit",  "lesson",  "amendment", "episode",
       "season",  "version", "tier",   "annex", "group",   "canto", "module",  "schedule",  "olympiad"});
  return has(kCounted, word);
}

/// Names of rulers and popes.
bool is_name_of_rulers(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"henry",     "edward",   "charles",    "george",      "james",     "louis",    "william",   "richard",
       "philip",    "pope",     "pius",       "napoleon",    "elizabeth", "john",     "paul",      "francis",
       "benedict",  "nicholas", "ferdinand",  "leo",         "peter",     "gregory",  "alexander", "mary",
       "ramesses",  "ramses",   "catherine",  "frederick",   "gustav",    "otto",     "ivan",      "darius",
       "xerxes",    "cyrus",    "ptolemy",    "thutmose",    "clement",   "innocent", "urban",     "boniface",
       "sixtus",    "julius",   "alfonso",    "felipe",      "carlos",    "emmanuel", "leopold",   "albert",
       "christian", "stephen",  "robert",     "mehmed",      "murad",     "selim",    "wilhelm",   "harald",
       "haakon",    "olav",     "juan",       "umberto",     "franz",     "joseph",   "philippe",  "amenhotep",
       "antiochus", "seleucus", "theodosius", "constantine", "baldwin",   "casimir",  "sigismund", "victor"});
  return has(kNames, name);
}

bool is_title_of_rulers(std::string_view word) {
  constexpr auto kTitles = std::to_array<std::string_view>(
      {"king", "queen", "pope", "emperor", "empress", "czar", "tsar", "sultan", "prince", "shah", "pharaoh", "kaiser"});
  return has(kTitles, word);
}

/// "ii)" and, where such a one follows, "i)": what numbers the items of a list.
bool is_item(const EnglishCursor& text) {
  const auto word = text.core(0);
  if (!text.token(0)->behind.starts_with(')') || word.find_first_not_of("ivx") != word.npos) return false;
  if (word.size() > 1) return true;
  for (std::size_t ahead = 1; word == "i" && text.token(ahead); ++ahead)
    if (text.core(ahead) == "ii") return true;
  return false;
}

/// "Part I", not "the part I like".
bool may_count(const EnglishCursor& text) {
  const auto word = text.core(0), next = text.core(1);
  if (ascii_lower(word) == word) return word.size() > 1 && word.find_first_not_of("ivxl") == word.npos;
  const bool is_before_verb = text.token(0)->behind.empty() && !next.empty() && ascii_lower(next) == next;
  return word != "I" || !is_before_verb || is_ascii_upper(text.before()->core.front());
}

/// Whether a text is of rulers: "In 1563 Elizabeth I granted it to the Earl", not "With Elizabeth I went home".
bool is_of_rulers(const EnglishCursor& text) {
  constexpr auto kCues = std::to_array<std::string_view>({"king", "queen", "emperor", "throne", "reign", "reigned",
                                                          "crown", "crowned", "castle", "earl", "duke", "lord",
                                                          "dynasty", "tsar", "century", "succeeded", "coronation"});
  const auto is_cue = [&](std::string_view word) { return may_be_year(word) || has(kCues, ascii_lower(word)); };
  for (std::size_t ahead = 1; text.token(ahead); ++ahead)
    if (is_cue(text.core(ahead))) return true;
  for (std::size_t back = 1; text.before(back); ++back)
    if (is_cue(text.small_before(back))) return true;
  return false;
}

}  // namespace

bool read_roman(EnglishCursor& text) {
  constexpr std::string_view kPossessive = "'s";
  if (text.core(0).ends_with(kPossessive) && text.core(0).size() > kPossessive.size() + 1) {  // "Charles III's"
    const std::string whole(text.core(0));
    text.replace_core(whole.substr(0, whole.size() - kPossessive.size()));
    const bool is_read = read_roman(text);
    if (is_read) text.add_ending(kPossessive);
    if (!is_read) text.replace_core(whole);
    return is_read;
  }
  const auto word = text.core(0);
  const auto value = roman_value(ascii_upper(word));
  if (!value) return false;
  const std::string digits = std::to_string(*value);
  if (is_item(text)) {
    text.add_words(cardinal_words(digits));
    return true;
  }
  const auto* before = text.before();
  if (!before || !text.has_words() || before->core.empty()) return false;
  if (is_counted_by_figures(text.last_word()) && may_count(text)) {
    text.add_words(cardinal_words(digits));
    return true;
  }
  if (ascii_upper(word) != word) return false;
  const auto joint = text.core(1);
  if (word == "I" && text.core(2) == "II" && (joint == "&" || joint == "and" || joint == "or")) {  // "Algebra I & II"
    text.add_words("one");
    return true;
  }
  if (word == "I" && !(is_name_of_rulers(text.small_before()) && is_of_rulers(text))) return false;
  if (ascii_lower(text.core(1)).starts_with("centur") && word.size() > 1) {
    text.add_words(ordinal_words(digits));
    return true;
  }
  const bool is_behind_name = is_ascii_upper(before->core.front()) && before->behind.empty();
  const auto* first = text.before(2);  // "Henry Ford II"
  const bool is_behind_full_name = is_behind_name && first && first->behind.empty() && !first->core.empty() &&
                                   is_ascii_upper(first->core.front()) && is_name_of_rulers(text.small_before(2));
  const bool is_ruler = is_name_of_rulers(text.small_before()) || is_title_of_rulers(text.small_before(2)) ||
                        (is_behind_full_name && word != "I");
  const bool is_sure =
      word == "II" || word == "III" || word == "VII" || word == "VIII";  // "angiotensin II", not "an IV"
  if (is_sure && !is_ruler && before->behind.empty() && !text.is_shouted()) {
    text.add_words(cardinal_words(digits));
    return true;
  }
  if (!is_behind_name || (is_ruler && text.is_shouted())) return false;
  if (is_ruler) {
    text.add_words("the " + ordinal_words(digits));
    return true;
  }
  constexpr auto kArticles = std::to_array<std::string_view>({"the", "a", "an", "this", "our"});
  if (has(kArticles, text.small_before())) return false;  // "The LX has"
  const bool is_number = word.size() > 1 && word.find_first_not_of("IVXL") == word.npos && word != "XL";  // a size
  if (!is_number || text.is_shouted()) return false;
  text.add_words(cardinal_words(digits));
  return true;
}

}  // namespace tutti
