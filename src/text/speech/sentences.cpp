#include "text/speech/sentences.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/abbreviations.h"
#include "text/speech/amounts.h"
#include "text/speech/signs.h"
#include "text/speech/text_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";
constexpr std::string_view kEnds = ".!?;:";
constexpr std::string_view kClosing = ")\"'";

bool is_space(char c) {
  return kSpace.find(c) != std::string_view::npos;
}

/// Whether it is more than a pause: part of a word, or a sign that may have words.
bool is_readable(char32_t c) {
  return is_word_character(c) || (class_of(c) == GeneralClass::symbol && !is_silent(c));
}

/// Whether a mark is a sign of an equation: "5! = 120".
bool is_of_equation(std::string_view behind) {
  const auto next = behind.find_first_not_of(kSpace);
  const Sign* sign = next == std::string_view::npos ? nullptr : sign_at_front(behind.substr(next));
  return sign && is_relation(*sign);
}

/// "NW, Washington", "W. Toronto".
bool begins_with_direction(std::string_view text) {
  constexpr auto kDirections = std::to_array<std::string_view>({"NE", "NW", "SE", "SW", "N", "S", "E", "W"});
  const auto end = std::min(text.find_first_of(" \t\r\n.,;:"), text.size());
  return std::ranges::find(kDirections, text.substr(0, end)) != kDirections.end();
}

/// "EST", "PT": capitals of a zone of time behind "a.m."
bool begins_with_zone(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  const auto begin = std::min(text.find_first_not_of(kSpace), text.size());
  const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_ascii_upper);
  const auto size = static_cast<std::size_t>(end - text.begin()) - begin;
  const bool is_word_over = end == text.end() || !is_ascii_alphabetic(*end);
  return size > 1 && size <= kLongest && is_word_over && text[begin + size - 1] == 'T';
}

/// Whether a number is before `at`, blanks aside.
bool is_number_before(std::string_view text, std::size_t at) {
  const auto number = text.substr(0, text.find_last_not_of(kSpace, at == 0 ? 0 : at - 1) + 1);
  return at > 0 && !number.empty() && is_ascii_digit(number.back());
}

/// "6 ft 2 in", "40lb", "13-in", "$3.49/gal": a unit that begins at `at`, behind a number.
bool is_unit_of_number(std::string_view text, std::size_t at) {
  const std::size_t joint = at > 0 && (text[at - 1] == '-' || text[at - 1] == '/') ? 1 : 0;
  return is_number_before(text, at - joint) && text.size() - at > 1 && unit_name(text.substr(at), true).has_value();
}

/// Whether a full stop behind `before` belongs to its last word. `behind` is what follows the stop.
bool is_abbreviated(std::string_view before, std::string_view behind) {
  constexpr auto kKnown = std::to_array<std::string_view>(
      {"dr",   "mr",   "mrs",  "ms",   "st",  "prof", "jr",  "sr",   "no",   "vs",   "gen",    "col",  "rev",
       "hon",  "mt",   "rep",  "sen",  "gov", "capt", "lt",  "sgt",  "maj",  "pres", "messrs", "adm",  "cpl",
       "cmdr", "attn", "incl", "excl", "cf",  "viz",  "fig", "figs", "vol",  "pp",   "pls",    "rte",  "ens",
       "amb",  "insp", "fr",   "rt",   "pfc", "spc",  "cpt", "lcpl", "ssgt", "msgt", "sfc",    "cres", "msgr",
       "cllr", "wm",   "benj", "chas", "geo", "thos", "jas", "robt", "edw",  "saml", "atty",   "supt", "asst"});
  auto begin = before.size();
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(before[begin - 1])) != 0) --begin;
  std::string word(before.substr(begin));
  if (word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])) != 0) return true;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::find(kKnown, std::string_view(word)) != kKnown.end()) return true;
  if (word == "ft" && before[begin] == 'F') return true;  // "Ft. Worth", not "6 ft. He"
  if (before.ends_with("e.g") || before.ends_with("i.e")) return true;
  // "vol. 3", "Dec. 31", "at 7 a.m. he": where a capital follows, the sentence may as well be over
  const auto next = behind.find_first_not_of(kSpace);
  const auto written = before.substr(begin);
  if ((before.ends_with(".m") || written == "am" || written == "pm") && begins_with_zone(behind)) return true;
  if (next == std::string_view::npos) return false;
  if (written == "v") return true;  // "Roe v. Wade"
  const auto next_word = behind.substr(next, behind.find_first_of(kSpace, next) - next);
  if (before.ends_with(".m") && weekday_name(next_word)) return true;   // "4 p.m. Sat."
  if (weekday_name(written) && month_name(next_word)) return true;      // "Sat. May 5"
  if ((is_street_word(written) || is_unit_of_number(before, begin)) &&  // "Ave. NW", "4 mi. N of town"
      begins_with_direction(behind.substr(next)))
    return true;
  if (std::isupper(static_cast<unsigned char>(behind[next])) != 0) return false;
  const bool is_before_number = (word == "c" || word == "ca" || word == "rs") &&  // "c. 1500", "Rs. 4,500"
                                std::isdigit(static_cast<unsigned char>(behind[next])) != 0;
  const bool is_cup = word == "c" && is_number_before(before, begin);
  if (is_before_number || is_cup || is_unit_of_number(before, begin)) return true;
  const bool is_dotted = word.size() == 1 && begin > 0 && before[begin - 1] == '.';
  return is_dotted || weekday_name(written) || month_name(written) || long_form(written, true, false).has_value();
}

/// Where the sentence that `text` begins with ends.
std::size_t end_of_sentence(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return i + 1;
    if (text.substr(i).starts_with("[[")) {  // sounds: what is in them ends nothing
      const auto closed = text.find("]]", i);
      if (closed == std::string_view::npos) return text.size();
      i = closed + 1;
      continue;
    }
    if (const auto markup = text[i] == '&' || text[i] == '<' ? markup_size(text, i) : 0; markup > 0) {
      i += markup - 1;
      continue;
    }
    if (kEnds.find(text[i]) == std::string_view::npos) continue;
    if (text[i] == '!' && is_of_equation(text.substr(i + 1))) continue;
    if (text[i] == '.' && is_abbreviated(text.substr(0, i), text.substr(i + 1))) continue;
    auto end = i + 1;
    while (end < text.size() &&
           (kEnds.find(text[end]) != std::string_view::npos || kClosing.find(text[end]) != std::string_view::npos))
      ++end;
    if (end == text.size() || is_space(text[end])) return end;
  }
  return text.size();
}

/// Where to cut a sentence of more than `most` bytes: behind the last comma in them, else at the last white space, else
/// before the character that no longer fits. Sounds in brackets are never cut.
std::size_t cut_of(std::string_view sentence, std::size_t most) {
  auto head = sentence.substr(0, most);
  const auto open = head.rfind("[[");
  if (open != std::string_view::npos && head.find("]]", open) == std::string_view::npos) {
    const auto closed = sentence.find("]]", open);
    if (open == 0 && closed != std::string_view::npos) return closed + 2;
    if (open > 0) head = head.substr(0, open);
  }
  if (const auto comma = head.rfind(','); comma != std::string_view::npos && comma > 0) return comma + 1;
  if (const auto space = head.find_last_of(kSpace); space != std::string_view::npos && space > 0) return space + 1;
  auto end = head.size();
  while (end > 1 && (static_cast<unsigned char>(sentence[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

/// With the straight quotes and apostrophes in place of the typographic ones.
std::string with_plain_quotes(std::string_view text) {
  constexpr auto kQuotes = std::to_array<std::pair<std::string_view, char>>(
      {{"\u2018", '\''}, {"\u2019", '\''}, {"\u201c", '"'}, {"\u201d", '"'}, {"\u201e", '"'}});
  std::string plain;
  while (!text.empty()) {
    const auto quote = std::ranges::find_if(kQuotes, [&](const auto& pair) { return text.starts_with(pair.first); });
    plain += quote == kQuotes.end() ? text.front() : quote->second;
    text.remove_prefix(quote == kQuotes.end() ? 1 : quote->first.size());
  }
  return plain;
}

void add(Sentences& into, std::string_view piece) {
  piece = trimmed(piece);
  if (!std::ranges::any_of(to_code_points(without_markup(piece)), is_readable)) return;
  into.pieces.emplace_back(piece);
  into.rises.push_back(false);
}

/// Whether a sentence is over behind `part`, which a stop, ';', ':' or a line break ends. A line that goes on in lower
/// case was broken within a sentence.
bool is_over(std::string_view part, std::string_view behind) {
  const auto plain = with_plain_quotes(part);
  const auto last = plain.find_last_not_of(" \t\r\n\v\f)\"'");
  if (last != plain.npos && std::string_view(".!?").find(plain[last]) != std::string_view::npos) return true;
  const auto next = behind.find_first_not_of(kSpace);
  return part.ends_with('\n') &&
         (next == behind.npos || !is_ascii_alphabetic(behind[next]) || is_ascii_upper(behind[next]));
}

/// "is", "don't": a question that begins with it has yes or no for an answer, whatever words it has.
bool is_auxiliary(std::string_view word) {
  constexpr auto kAuxiliaries = std::to_array<std::string_view>(
      {"am",    "is",    "are",   "was",   "were",   "do",   "does",   "did",  "have",   "has",    "had",  "can",
       "could", "will",  "would", "shall", "should", "may",  "might",  "must", "isn",    "aren",   "wasn", "weren",
       "don",   "doesn", "didn",  "haven", "hasn",   "hadn", "couldn", "won",  "wouldn", "shouldn"});
  return std::ranges::find(kAuxiliaries, word) != kAuxiliaries.end();
}

}  // namespace

Sentences split_sentences(std::string_view text, std::size_t most) {
  Sentences found;
  std::string_view whole = text;  // from where the sentence began
  while (!text.empty()) {
    const auto part = text.substr(0, end_of_sentence(text));
    auto sentence = trimmed(part);
    text.remove_prefix(part.size());
    const auto so_far = trimmed(whole.substr(0, whole.size() - text.size()));
    const bool rises = is_yes_or_no_question(sentence) && is_yes_or_no_question(so_far);
    if (is_over(part, text)) whole = text;
    const auto before = found.pieces.size();
    while (sentence.size() > most) {
      const auto cut = cut_of(sentence, most);
      add(found, sentence.substr(0, cut));
      sentence = trimmed(sentence.substr(cut));
      ++found.cut;
    }
    add(found, sentence);
    if (found.pieces.size() > before) found.rises.back() = rises;
  }
  return found;
}

bool is_yes_or_no_question(std::string_view sentence) {
  constexpr auto kQuestionWords =
      std::to_array<std::string_view>({"what", "who", "whom", "whose", "where", "when", "why", "which", "how"});
  std::string plain = with_plain_quotes(sentence);
  std::ranges::replace(plain, '\n', ' ');
  const auto last = plain.find_last_not_of(" \t\r\n\v\f)\"'");
  if (last == plain.npos || plain[last] != '?') return false;
  // One of the first two words, or the first behind a comma: "Excuse me, where is it?"
  constexpr std::size_t kFirst = 2;
  std::size_t words = 0;
  bool behind_comma = false;
  for (const auto word : split(plain, ' ')) {
    const auto begin = std::min(word.find_first_not_of("(\"'"), word.size());
    // "what's", "why're" and "how'd" are the words before their apostrophes.
    const auto small = ascii_lower(word.substr(begin, word.find_first_of(",.;:?!)\"'", begin) - begin));
    if (words == 0 && is_auxiliary(small)) return true;
    if ((words < kFirst || behind_comma) && std::ranges::find(kQuestionWords, small) != kQuestionWords.end())
      return false;
    behind_comma = word.ends_with(',');
    ++words;
  }
  return true;
}

}  // namespace tutti
