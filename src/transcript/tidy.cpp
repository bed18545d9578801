#include "transcript/tidy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"
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

/// The first time at or behind `from` that is known; `otherwise` where none is.
double next_time(const std::vector<Segment>& segments, std::size_t from, double otherwise) {
  for (std::size_t i = from; i < segments.size(); ++i)
    for (const double time : {segments[i].start, segments[i].end})
      if (!std::isnan(time)) return time;
  return otherwise;
}

/// Gives segments without a start the end of the one before, and those without an end the start of the next.
std::string fill_times(std::vector<Segment>& segments) {
  std::size_t filled = 0;
  std::int64_t first = 0;
  double before = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment& segment = segments[i];
    const bool lacks = std::isnan(segment.start) || std::isnan(segment.end);
    if (std::isnan(segment.start)) segment.start = std::isnan(segment.end) ? before : std::min(before, segment.end);
    if (std::isnan(segment.end)) segment.end = std::max(segment.start, next_time(segments, i + 1, segment.start));
    if (lacks && ++filled == 1) first = segment.id;
    before = segment.end;
  }
  if (filled == 0) return {};
  return "times that are missing or below zero are those of the segments around in " + std::to_string(filled) +
         (filled == 1 ? " segment (" : " segments (the first: ") + "segment " + std::to_string(first) + ")";
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
  const std::string filled = fill_times(transcript.segments);
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
  if (turned == 0) return filled;
  return filled + (filled.empty() ? "" : "; ") + "times that run backwards are turned round in " +
         std::to_string(turned) + (turned == 1 ? " segment (" : " segments (the first: ") + first + ")";
}

}  // namespace tutti
