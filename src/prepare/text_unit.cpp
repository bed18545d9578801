#include "prepare/text_unit.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "base/strings.h"
#include "transcript/doubt/doubt_rules.h"

namespace tutti {
namespace {

constexpr double kReach = 1;  // seconds that a cut is moved at most, to where it is quiet

void shift(Piece& piece, double by) {
  piece.start += by;
  piece.end += by;
  for (TimedText& text : piece.times) text = {text.start + by, text.end + by, std::move(text.text)};
}

Transcript shifted(std::span<const TextUnit> units, double by) {
  Transcript transcript;
  for (const TextUnit& unit : units) {
    Segment segment = unit.segment;
    segment.text = " " + segment.text;
    segment.start += by;
    segment.end += by;
    for (Word& word : segment.words) word = {word.word, word.start + by, word.end + by, word.probability};
    transcript.segments.push_back(std::move(segment));
  }
  return transcript;
}

/// The score of the words that are spoken within the piece.
double score_of(const Piece& piece, std::span<const TextUnit> units) {
  std::vector<Word> inside;
  for (const TextUnit& unit : units)
    for (const Word& word : unit.segment.words)
      if (const double middle = (word.start + word.end) / 2; middle >= piece.start && middle < piece.end)
        inside.push_back(word);
  return mean_probability(inside);
}

/// Where a cut near `at` may fall: not in what is refused, and not in a word. For the word before it the start is well
/// known, for the word behind it the end; the other edges reach into the silence between them.
Stretch cut_around(double at, std::span<const TextUnit> units) {
  constexpr double kWord = 0.15;  // seconds of a word that are left whole
  Stretch range{at - kReach, at + kReach};
  const auto not_before = [&](double time) { range.start = std::max(range.start, std::min(time, at)); };
  const auto not_behind = [&](double time) { range.end = std::min(range.end, std::max(time, at)); };
  for (const TextUnit& unit : units) {
    if (!unit.refused.empty()) {
      const bool is_before = unit.segment.start + unit.segment.end < 2 * at;
      is_before ? not_before(unit.segment.end) : not_behind(unit.segment.start);
      continue;
    }
    for (const Word& word : unit.segment.words)
      word.start + word.end < 2 * at ? not_before(word.start + kWord) : not_behind(word.end - kWord);
  }
  return range;
}

/// Why so much text cannot be spoken in this time, even at `times` the rate of the fastest speakers; empty where they
/// can.
std::string crowded(const std::string& whose, const LetterCount& count, double seconds, double times) {
  constexpr double kCoarse = 0.1;  // seconds that edges may be off
  if (times * (seconds + kCoarse) >= count.fastest) return {};
  char why[160];
  std::snprintf(why, sizeof why,
                " %zu letters were found in %.2f s, for which the fastest speakers need %.2f s: "
                "is all of it spoken there, and not written twice?",
                count.letters, seconds, count.fastest);
  return whose + why;
}

/// The lost words of a recording that was cut off crowd where it ends, or in a pause, though the words
/// before them make them probable. True speech (LJ003-*, 13 clips) reaches 0.9 of the fastest rate in a run of three
/// words.
std::string crowded_words(const std::vector<Word>& words) {
  constexpr std::ptrdiff_t kLeastWords = 3;
  constexpr double kLeastSeconds = 0.48;  // that the fastest speakers need; less is too coarsely timed
  constexpr double kTimes = 1.5;
  for (auto first = words.begin(); first != words.end(); ++first) {
    std::string text;
    for (auto last = first; last != words.end(); ++last) {
      text += last->word;
      const auto count = letters_of(text);
      if (last - first + 1 < kLeastWords || count.fastest < kLeastSeconds) continue;
      auto why =
          crowded("from '" + std::string(trimmed(first->word)) + "' on,", count, last->end - first->start, kTimes);
      if (!why.empty()) return why;
    }
  }
  return {};
}

/// The words of a text that is not spoken where it was aligned, though the words before it make it probable (a subtitle
/// that repeats its neighbour's words), crowd where no audio is left for them.
std::string crowded(const TextUnit& unit) {
  const Segment& aligned = unit.segment;
  if (aligned.words.empty()) return {};
  auto why = crowded("its", letters_of(aligned.text), aligned.end - aligned.start, 2);
  return why.empty() ? crowded_words(aligned.words) : why;
}

/// Half-way between what ends and what begins; `kept` where they overlap.
double border(double end, double begin, double kept) {
  return end < begin ? (end + begin) / 2 : kept;
}

}  // namespace

double mean_probability(const std::vector<Word>& words) {
  double sum = 0;
  for (const Word& word : words) sum += word.probability;
  return words.empty() ? 0 : sum / static_cast<double>(words.size());
}

void score_units(std::vector<TextUnit>& units, double least_score) {
  for (TextUnit& unit : units) {
    if (!unit.refused.empty()) continue;
    if (unit.score >= least_score) {
      unit.refused = crowded(unit);
      continue;
    }
    char why[96];
    std::snprintf(why, sizeof why, "its words are improbable here: %.2f on average, expected at least %.2f", unit.score,
                  least_score);
    unit.refused = why;
  }
}

std::vector<PreparedPiece> cut_units(std::vector<TextUnit>& units, double seconds, double window) {
  std::vector<PreparedPiece> prepared;
  for (std::size_t first = 0; first < units.size();) {
    std::size_t next = first;
    while (next < units.size() && units[next].refused.empty()) ++next;
    const auto run = std::span(units).subspan(first, next - first);
    if (!run.empty()) {
      const double from =
          first > 0 ? border(units[first - 1].segment.end, run.front().segment.start, run.front().segment.start) : 0;
      const double to = next < units.size()
                            ? border(run.back().segment.end, units[next].segment.start, run.back().segment.end)
                            : seconds;
      auto pieces = cut_pieces(shifted(run, -from), to - from, window - 2 * (kReach - kCutSearch));
      if (!pieces)
        for (TextUnit& unit : run) unit.refused = pieces.error().what;
      for (std::size_t i = 0; pieces && i < pieces->size(); ++i) {
        shift(pieces->at(i), from);
        const Piece& piece = pieces->at(i);
        prepared.push_back({.piece = piece,
                            .score = score_of(piece, run),
                            .around_start = cut_around(piece.start, units),
                            .around_end = cut_around(piece.end, units)});
      }
    }
    first = next + 1;
  }
  return prepared;
}

}  // namespace tutti
