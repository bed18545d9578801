#include "transcript/reference_text/caption_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// What begins a line and may name who speaks: "PRESIDENT KENNEDY" of "PRESIDENT KENNEDY: And so".
struct SpeakerLabel {
  std::u32string_view name{};
  std::size_t size = 0;  // with its colon
};

/// What is known of the captions that a label is one of.
struct LabelContext {
  std::map<std::u32string, int> counts{};  // lines that begin with a label, by its name in lower case
  bool all_capitals = false;               // the text is in capitals, as a rule
};

constexpr std::size_t kLongest = 40;   // characters of a name
constexpr std::size_t kMostWords = 5;  // words of a name

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

/// The label of a line without space in front; its name is empty where there is none.
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

/// Whether a label names a speaker; `is_turn`: a sign before it marks a change of speaker.
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

struct Bracket {
  char32_t open;
  char32_t close;
  bool is_parenthesis;
};

constexpr std::array kBrackets{Bracket{U'[', U']', false},           Bracket{U'{', U'}', false},
                               Bracket{U'\u3010', U'\u3011', false}, Bracket{U'\u3014', U'\u3015', false},
                               Bracket{U'\uFF3B', U'\uFF3D', false}, Bracket{U'(', U')', true},
                               Bracket{U'\uFF08', U'\uFF09', true}};
constexpr std::u32string_view kNotes = U"\u266A\u266B\u2669\u266C\U0001F3B5\U0001F3B6";
constexpr std::u32string_view kDashes = U"-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2022";

bool is_note(char32_t c) {
  return kNotes.find(c) != kNotes.npos;
}

std::u32string_view stripped(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The index of the bracket that closes the one at `open`, over inner ones of its kind; npos: none does.
std::size_t closing(std::u32string_view text, std::size_t open, const Bracket& kind) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == kind.open) ++depth;
    if (text[at] == kind.close && --depth == 0) return at;
  }
  return text.npos;
}

/// A caption without descriptions. One may be closed in the caption behind it.
class Descriptions {
 public:
  explicit Descriptions(CaptionRules rules) : rules_(rules) {}

  std::u32string removed(std::u32string_view text) {
    text = behind_open(text);
    std::u32string out;
    for (std::size_t at = 0; at < text.size();) {
      const Bracket* kind = opened_by(text[at]);
      const std::size_t close = kind ? closing(text, at, *kind) : text.npos;
      if (close != text.npos) {
        at = close + 1;
        out += U' ';
      } else if (kind && (!kind->is_parenthesis || begins_line(text, at))) {
        open_ = kind->close;  // and so is what follows
        break;
      } else if (const std::size_t stars = starred(text, at); stars > 0) {
        at += stars;
        out += U' ';
      } else {
        out += text[at++];
      }
    }
    return out;
  }

 private:
  const Bracket* opened_by(char32_t c) const {
    const auto kind = std::ranges::find(kBrackets, c, &Bracket::open);
    return kind == kBrackets.end() || (kind->is_parenthesis && !rules_.parentheses_are_sounds) ? nullptr : &*kind;
  }
  static bool begins_line(std::u32string_view text, std::size_t at) {
    while (at > 0 && text[at - 1] != U'\n')
      if (!is_space(text[--at]) && kDashes.find(text[at]) == kDashes.npos) return false;
    return true;
  }
  /// What follows the close of a description that began in the caption before.
  std::u32string_view behind_open(std::u32string_view text) {
    const auto close = std::exchange(open_, std::nullopt);
    const std::size_t at = close ? text.find(*close) : text.npos;
    return at == text.npos ? text : text.substr(at + 1);
  }
  /// The length of *sighs* at `at`; 0: there is none.
  static std::size_t starred(std::u32string_view text, std::size_t at) {
    if (text[at] != U'*' || (at > 0 && !is_space(text[at - 1]))) return 0;
    const std::size_t end = text.find(U'*', at + 1);
    const bool ends = end != text.npos && (end + 1 == text.size() || !is_word_character(text[end + 1]));
    if (!ends || end == at + 1 || end > at + 40) return 0;
    const auto inside = text.substr(at + 1, end - at - 1);
    return std::ranges::all_of(inside, [](char32_t c) { return is_letter(c) || c == U' ' || c == U'-'; }) ? end + 1 - at
                                                                                                          : 0;
  }

  CaptionRules rules_;
  std::optional<char32_t> open_{};  // closes what the caption before left open
};

using Lines = std::vector<std::u32string>;

Lines lines_of(std::u32string_view text) {
  Lines lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(U'\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Teletext has # for a note: "# Happy birthday #".
bool is_teletext_song(std::u32string_view line) {
  line = stripped(line);
  return line.size() > 3 && line.starts_with(U"# ") && line.ends_with(U" #");
}

/// Lines without what is between notes. A note that nothing closes is for its line, unless that ends within music that
/// a later line of the caption closes.
void remove_music(Lines& lines) {
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_teletext_song(lines[i])) lines[i].clear();
    if (inside && is_note(stripped(lines[i]).substr(0, 1).empty() ? U' ' : stripped(lines[i]).front())) inside = false;
    std::u32string kept;
    bool has_note = false;
    for (const char32_t c : lines[i]) {
      if (is_note(c)) {
        inside = !inside;
        has_note = true;
      } else if (!inside) {
        kept += c;
      }
    }
    const auto has_notes = [](const std::u32string& line) { return std::ranges::any_of(line, is_note); };
    inside = inside && std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(i) + 1, lines.end(), has_notes);
    if (has_note || kept.size() < lines[i].size()) lines[i] = std::move(kept);
  }
}

/// A line of one speaker.
struct SpokenLine {
  std::u32string text{};
  bool is_turn = false;  // a sign before it marks a change of speaker
};

/// Takes signs of a change of speaker from a line's start: dashes, but not the sign of a number, and what a removed
/// description leaves (": text").
SpokenLine without_signs(std::u32string_view line, bool is_turn) {
  line = stripped(line);
  while (!line.empty()) {
    const bool is_dash = kDashes.find(line.front()) != kDashes.npos && (line.size() == 1 || !is_number(line[1]));
    if (!is_dash && line.front() != U':' && line.front() != U'\uFF1A' && line.front() != U',') break;
    is_turn = is_turn || is_dash;
    line = stripped(line.substr(1));
  }
  return {std::u32string(line), is_turn};
}

/// The parts of a line between >> and >>>, each of which begins with another speaker.
std::vector<SpokenLine> turns_of(std::u32string_view line) {
  std::vector<SpokenLine> turns;
  bool is_turn = false;
  while (true) {
    const std::size_t sign = line.find(U">>");
    auto turn = without_signs(line.substr(0, sign), is_turn);
    if (!turn.text.empty()) turns.push_back(std::move(turn));
    if (sign == line.npos) return turns;
    line.remove_prefix(sign);
    while (line.starts_with(U'>')) line.remove_prefix(1);
    is_turn = true;
  }
}

std::vector<SpokenLine> spoken_lines(std::u32string_view caption) {
  Lines lines = lines_of(caption);
  remove_music(lines);
  std::vector<SpokenLine> all;
  for (const auto& line : lines) std::ranges::move(turns_of(line), std::back_inserter(all));
  return all;
}

/// Spaces as single ones, none before punctuation that a removed description has left alone.
std::u32string tidy(std::u32string_view text) {
  constexpr std::u32string_view kClosing = U",.;:!?\u2026";
  std::u32string out;
  for (const char32_t c : join_spaces(stripped(text))) {
    if (kClosing.find(c) != kClosing.npos && out.ends_with(U' ')) out.pop_back();
    out += c;
  }
  return out;
}

LabelContext context_of(const std::vector<std::vector<SpokenLine>>& captions) {
  LabelContext context;
  std::size_t small = 0, capital = 0;
  for (const auto& caption : captions)
    for (const auto& line : caption) {
      if (const auto label = label_of(line.text); !label.name.empty()) ++context.counts[lower(label.name)];
      small += static_cast<std::size_t>(
          std::ranges::count_if(line.text, [](char32_t c) { return case_of(c) == LetterCase::small; }));
      capital += static_cast<std::size_t>(
          std::ranges::count_if(line.text, [](char32_t c) { return case_of(c) == LetterCase::capital; }));
    }
  context.all_capitals = capital > 9 * small;
  return context;
}

std::string text_of(const std::vector<SpokenLine>& caption, const LabelContext& context) {
  std::u32string all;
  for (const auto& line : caption) {
    std::u32string_view text = line.text;
    const auto label = label_of(text);
    if (!label.name.empty() && names_speaker(label.name, line.is_turn, context)) text.remove_prefix(label.size);
    const std::u32string spoken = tidy(without_signs(text, false).text);
    if (std::ranges::any_of(spoken, [](char32_t c) { return is_letter(c) || is_number(c); }))
      all.append(all.empty() ? U"" : U"\n").append(spoken);
  }
  return to_utf8(all);
}

}  // namespace

std::vector<std::string> spoken_texts(std::span<const std::string> captions, CaptionRules rules) {
  Descriptions descriptions(rules);
  std::vector<std::vector<SpokenLine>> lines;
  for (const auto& caption : captions) lines.push_back(spoken_lines(descriptions.removed(to_code_points(caption))));
  const LabelContext context = context_of(lines);
  std::vector<std::string> texts;
  for (const auto& caption : lines) texts.push_back(text_of(caption, context));
  return texts;
}

}  // namespace tutti
