#include "transcript/reference_text/speaker_label.h"

#include <algorithm>
#include <array>

#include "text/code_points.h"

namespace tutti {
namespace {

constexpr std::size_t kLongest = 40;   // characters of a name
constexpr std::size_t kMostWords = 5;  // of a name

/// Who speaks, where no name is known.
constexpr std::array<std::u32string_view, 60> kRoles{U"narrator",    U"speaker",    U"interviewer",
                                                     U"interviewee", U"host",       U"moderator",
                                                     U"reporter",    U"announcer",  U"man",
                                                     U"woman",       U"boy",        U"girl",
                                                     U"child",       U"children",   U"kid",
                                                     U"male",        U"female",     U"voice",
                                                     U"voiceover",   U"crowd",      U"audience",
                                                     U"all",         U"both",       U"everyone",
                                                     U"operator",    U"dispatcher", U"officer",
                                                     U"teacher",     U"student",    U"professor",
                                                     U"doctor",      U"nurse",      U"judge",
                                                     U"president",   U"senator",    U"chairman",
                                                     U"presenter",   U"anchor",     U"commentator",
                                                     U"singer",      U"chorus",     U"caller",
                                                     U"sprecher",    U"sprecherin", U"moderatorin",
                                                     U"erzähler",    U"journalist", U"journaliste",
                                                     U"narrateur",   U"homme",      U"femme",
                                                     U"hombre",      U"mujer",      U"présentateur",
                                                     U"presentador", U"narrador",   U"intervistatore",
                                                     U"locutor",     U"mann",       U"frau"};

/// What people say before a colon.
constexpr std::array<std::u32string_view, 30> kSpokenWords{
    U"note",      U"remember", U"question", U"answer",   U"example", U"warning",   U"listen",  U"look",
    U"yes",       U"no",       U"and",      U"but",      U"so",      U"because",   U"first",   U"second",
    U"third",     U"finally",  U"problem",  U"solution", U"result",  U"step",      U"chapter", U"part",
    U"attention", U"tip",      U"fact",     U"rule",     U"time",    U"conclusion"};

constexpr std::array<std::u32string_view, 14> kParticles{U"of", U"the", U"and", U"de", U"van", U"von", U"der",
                                                         U"la", U"le",  U"du",  U"di", U"da",  U"el",  U"&"};

template <std::size_t n>
bool is_among(const std::array<std::u32string_view, n>& words, std::u32string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_colon(char32_t c) {
  return c == U':' || c == U'\uFF1A';
}

bool may_be_in_name(char32_t c) {
  constexpr std::u32string_view kSigns = U" .'\u2019-_&/#,";
  return is_letter(c) || is_number(c) || kSigns.find(c) != kSigns.npos || class_of(c) == GeneralClass::mark_nonspacing;
}

bool begins_as_name(std::u32string_view word) {
  if (word.size() > 1 && word.front() == U'#') word.remove_prefix(1);  // "Man #1"
  return is_number(word.front()) || case_of(word.front()) == LetterCase::capital || is_among(kParticles, word);
}

}  // namespace

SpeakerLabel label_of(std::u32string_view line) {
  const auto colon = static_cast<std::size_t>(std::ranges::find_if(line, is_colon) - line.begin());
  if (colon == 0 || colon >= line.size() || colon > kLongest) return {};
  std::u32string_view name = line.substr(0, colon);
  while (!name.empty() && is_space(name.back())) name.remove_suffix(1);
  if (!std::ranges::all_of(name, may_be_in_name) || std::ranges::none_of(name, is_letter)) return {};
  if (line[colon] == U':' && colon + 1 < line.size()) {
    const char32_t next = line[colon + 1];
    const bool is_small = std::ranges::any_of(name, [](char32_t c) { return case_of(c) == LetterCase::small; });
    if (next == U'/' || is_number(next) || (is_small && is_letter(next))) return {};  // an address, a time, a word
  }
  return {name, colon + 1};
}

bool names_speaker(std::u32string_view name, bool is_turn, const LabelContext& context) {
  const std::u32string small = lower(name);
  const auto words = split_at_spaces(name);
  const auto small_words = split_at_spaces(small);
  if (words.empty() || words.size() > kMostWords) return false;
  const bool is_role = is_among(kRoles, small_words.front()) || is_among(kRoles, small_words.back());
  if (small.starts_with(U"speaker_")) return true;
  if (is_among(kSpokenWords, small_words.front())) return false;
  const bool is_name = std::ranges::all_of(words, begins_as_name);
  if (is_turn && (is_name || is_role)) return true;
  const auto counted = context.counts.find(small);
  const bool recurs = counted != context.counts.end() && counted->second >= 2;
  const auto has = [&](LetterCase wanted) {
    return std::ranges::any_of(name, [=](char32_t c) { return case_of(c) == wanted; });
  };
  if (!has(LetterCase::small) && !has(LetterCase::capital))  // a script without case
    return words.size() == 1 && name.size() <= 8 && counted != context.counts.end() && counted->second >= 3;
  if (!has(LetterCase::small)) return !context.all_capitals || (words.size() <= 3 && (recurs || is_role));
  if (words.size() == 1 && is_role) return true;
  if (!is_name) return false;
  return recurs || is_role || is_number(name.back()) || words.size() > 1;
}

}  // namespace tutti
