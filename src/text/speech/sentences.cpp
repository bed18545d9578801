#include "text/speech/sentences.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "text/code_points.h"
#include "text/speech/abbreviations.h"
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

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether a full stop behind `before` belongs to its last word. `behind` is what follows the stop.
bool is_abbreviated(std::string_view before, std::string_view behind) {
  constexpr std::array<std::string_view, 15> kKnown{"dr", "mr", "mrs", "ms",  "st",  "prof", "jr", "sr",
                                                    "no", "vs", "gen", "col", "rev", "hon",  "mt"};
  auto begin = before.size();
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(before[begin - 1])) != 0) --begin;
  std::string word(before.substr(begin));
  if (word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])) != 0) return true;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::find(kKnown, std::string_view(word)) != kKnown.end()) return true;
  if (word == "ft" && before[begin] == 'F') return true;  // "Ft. Worth", not "6 ft. He"
  // "vol. 3", "Dec. 31", "at 7 a.m. he": where a capital follows, the sentence may as well be over
  const auto next = behind.find_first_not_of(kSpace);
  const auto written = before.substr(begin);
  if (next == std::string_view::npos) return false;
  if (weekday_name(written)) {  // "Sat. May 5"
    const auto word_behind = behind.substr(next, behind.find_first_of(kSpace, next) - next);
    if (month_name(word_behind)) return true;
  }
  if (std::isupper(static_cast<unsigned char>(behind[next])) != 0) return false;
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

void add(Sentences& into, std::string_view piece) {
  piece = trimmed(piece);
  if (std::ranges::any_of(to_code_points(without_markup(piece)), is_readable)) into.pieces.emplace_back(piece);
}

}  // namespace

Sentences split_sentences(std::string_view text, std::size_t most) {
  Sentences found;
  while (!text.empty()) {
    const auto end = end_of_sentence(text);
    auto sentence = trimmed(text.substr(0, end));
    text.remove_prefix(end);
    while (sentence.size() > most) {
      const auto cut = cut_of(sentence, most);
      add(found, sentence.substr(0, cut));
      sentence = trimmed(sentence.substr(cut));
      ++found.cut;
    }
    add(found, sentence);
  }
  return found;
}

}  // namespace tutti
