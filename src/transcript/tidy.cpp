#include "transcript/tidy.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/strings/joined.h"
#include "base/strings/split.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

std::string with_plain_breaks(std::string_view text) {
  return replaced(replaced(text, "\r\n", "\n"), "\r", "\n");
}

/// Breaks in and behind a word are one space, which goes to the front of the next word.
void tidy_words(std::vector<Word>& words) {
  bool breaks = false;  // between the word before and this one
  for (Word& word : words) {
    const std::string text = with_plain_breaks(word.word);
    if (text.find('\n') == text.npos && !breaks) continue;
    const std::string_view bare = strip(text);
    const bool spaced = breaks || !leading_space(text).empty();
    breaks = bare.empty() ? spaced : text.ends_with('\n');
    word.word = (spaced && !bare.empty() ? " " : "") + joined(split(tidy_lines(bare), '\n'), " ");
  }
  std::erase_if(words, [](const Word& word) { return word.word.empty(); });
}

/// Whether start and end had to be exchanged.
template <class Timed>
bool turn_round(Timed& timed) {
  if (!(timed.end < timed.start)) return false;
  std::swap(timed.start, timed.end);
  return true;
}

}  // namespace

std::string tidy_lines(std::string_view text) {
  const std::string plain = with_plain_breaks(text);
  if (plain == text && plain.find('\n') == plain.npos) return plain;  // nearly always
  std::string out;
  for (const std::string_view line : split(plain, '\n'))
    if (!strip(line).empty()) out.append(out.empty() ? "" : "\n").append(line);
  return out;
}

std::string tidy_transcript(Transcript& transcript) {
  const bool has_words = has_word_times(transcript);
  std::size_t turned = 0;
  std::string first;
  for (std::size_t i = 0; i < transcript.segments.size(); ++i) {
    Segment& segment = transcript.segments[i];
    segment.text = tidy_lines(segment.text);
    tidy_words(segment.words);
    const std::string was = fixed_text(segment.start, 2) + " s to " + fixed_text(segment.end, 2) + " s";
    bool is_turned = turn_round(segment);
    if (is_turned && i + 1 < transcript.segments.size()) {
      const Segment& next = transcript.segments[i + 1];
      const double begins = std::min(next.start, next.end);
      if (begins > segment.start) segment.end = std::min(segment.end, begins);
    }
    for (Word& word : segment.words) is_turned = turn_round(word) || is_turned;
    if (has_words && segment.words.empty() && !strip(segment.text).empty())
      segment.words.push_back({.word = segment.text, .start = segment.start, .end = segment.end});
    if (is_turned && ++turned == 1) first = "segment " + std::to_string(segment.id) + ", " + was;
  }
  if (turned == 0) return {};
  return "times that run backwards are turned round in " + std::to_string(turned) +
         (turned == 1 ? " segment (" : " segments (the first: ") + first + ")";
}

}  // namespace tutti
