#include "transcript/words/segment_words.h"

#include <algorithm>
#include <cmath>

#include "transcript/slices.h"

namespace tutti {
namespace {

constexpr double kLongestMedian = 0.7;  // seconds
constexpr double kEdgeTolerance = 0.5;  // seconds a word may reach past its segment's timestamp
constexpr std::string_view kSentenceEnds = ".。!！?？";

/// How long words are in this window.
struct WordLengths {
  bool known = false;
  double median = 0;  // seconds, 0.7 at most; 0 if not known
  double most = 0;    // twice that: longer is no word
};

WordLengths lengths_of(const std::vector<TimedWord>& words) {
  std::vector<double> lengths;
  for (const TimedWord& word : words)
    if (word.end != word.start) lengths.push_back(word.end - word.start);
  if (lengths.empty()) return {};
  std::sort(lengths.begin(), lengths.end());
  const std::size_t half = lengths.size() / 2;
  const double median = lengths.size() % 2 == 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2;
  const double bounded = std::min(kLongestMedian, median);
  return {true, bounded, 2 * bounded};
}

/// A sentence end that lasts, or a word behind one that does, holds a pause.
void cut_at_sentence_ends(std::vector<TimedWord>& words, const WordLengths& lengths) {
  if (!lengths.known) return;
  const auto ends_sentence = [](const TimedWord& word) { return kSentenceEnds.find(word.text) != kSentenceEnds.npos; };
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!(words[i].end - words[i].start > lengths.most)) continue;
    if (ends_sentence(words[i]))
      words[i].end = words[i].start + lengths.most;
    else if (ends_sentence(words[i - 1]))
      words[i].start = words[i].end - lengths.most;
  }
}

/// As numpy rounds, not Python: to the multiple of 0.01 next to 100 times the value, halves to even.
double to_hundredths(double seconds) {
  return std::nearbyint(seconds * 100) / 100;
}

/// The next words of `words`, from `next` on, that spell `tokens` tokens.
std::vector<Word> take_words(const std::vector<TimedWord>& words, std::size_t& next, std::size_t tokens,
                             double offset) {
  std::vector<Word> taken;
  for (std::size_t spelled = 0; next < words.size() && spelled < tokens; ++next) {
    const TimedWord& word = words[next];
    spelled += word.tokens;
    if (!word.text.empty())
      taken.push_back(
          {word.text, to_hundredths(offset + word.start), to_hundredths(offset + word.end), word.probability});
  }
  return taken;
}

/// The first words after long silence often reach into it.
void cut_after_silence(std::vector<Word>& words, const WordLengths& lengths, double last_speech) {
  Word& first = words.front();
  Word* second = words.size() > 1 ? &words[1] : nullptr;
  if (!(first.end - last_speech > lengths.median * 4)) return;
  const bool too_long =
      first.end - first.start > lengths.most || (second && second->end - first.start > lengths.most * 2);
  if (!too_long) return;
  if (second && second->end - second->start > lengths.most)
    first.end = second->start = std::max(second->end / 2, second->end - lengths.most);
  first.start = std::max(0.0, first.end - lengths.most);
}

/// Segment and outer words agree on the edges: on the words', unless a word reaches far past the segment's.
void fit_edges(Segment& segment, double median) {
  Word& first = segment.words.front();
  if (segment.start < first.end && segment.start - kEdgeTolerance > first.start)
    first.start = std::max(0.0, std::min(first.end - median, segment.start));
  else
    segment.start = first.start;
  Word& last = segment.words.back();
  if (segment.end > last.start && segment.end + kEdgeTolerance < last.end)
    last.end = std::max(last.start + median, segment.end);
  else
    segment.end = last.end;
}

}  // namespace

void add_word_times(std::span<Segment> segments, std::vector<TimedWord> words, const WordRules& rules, std::int32_t eot,
                    double last_speech) {
  if (segments.empty()) return;
  const WordLengths lengths = lengths_of(words);
  cut_at_sentence_ends(words, lengths);
  merge_punctuations(words, rules.prepend_punctuations, rules.append_punctuations);

  const double offset = seconds_of_frames(segments.front().seek);
  std::size_t next = 0;
  for (Segment& segment : segments) {
    const auto tokens =
        std::count_if(segment.tokens.begin(), segment.tokens.end(), [eot](std::int32_t id) { return id < eot; });
    segment.words = take_words(words, next, static_cast<std::size_t>(tokens), offset);
    if (segment.words.empty()) continue;
    cut_after_silence(segment.words, lengths, last_speech);
    fit_edges(segment, lengths.median);
    last_speech = segment.end;
  }
}

std::optional<double> speech_end(std::span<const Segment> segments) {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment)
    if (!segment->words.empty()) return segment->words.back().end;
  if (segments.empty()) return std::nullopt;
  return segments.back().end;
}

}  // namespace tutti
