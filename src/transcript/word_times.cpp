#include "transcript/word_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/try.h"
#include "text/word_split.h"
#include "transcript/like_python.h"
#include "transcript/slices.h"

namespace tutti {
namespace {

constexpr double kStepsPerSecond = 50;

bool holds(std::string_view list, std::string_view sign) {
  return list.find(sign) != std::string_view::npos;
}

/// `giver` becomes empty; its time goes with it, as the reference has it, unless it is exact.
void give(TimedWord& giver, TimedWord& taker, std::string joined) {
  taker.text = std::move(joined);
  taker.tokens += giver.tokens;
  if (giver.is_exact) {
    taker.start = std::min(taker.start, giver.start);
    taker.end = std::max(taker.end, giver.end);
  }
  giver.text.clear();
  giver.tokens = 0;
}

double mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<TimedWord> timed_words(const Tokenizer& tokenizer, std::span<const std::int32_t> text,
                                   const AlignAnswer& alignment, std::string_view language) {
  // Behind an end-of-text no word of the text can run on; the last word, which is it, is left out.
  std::vector<std::int32_t> closed(text.begin(), text.end());
  closed.push_back(tokenizer.special().eot);
  const std::vector<SpelledWord> spelled = split_to_words(tokenizer, closed, language);
  const auto end_of = [&](std::size_t behind) {
    return alignment.ends.empty() ? alignment.starts[behind] : alignment.ends[behind - 1];
  };
  std::vector<TimedWord> words;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < spelled.size(); ++i) {
    const std::size_t count = spelled[i].ids.size();
    words.push_back({.text = spelled[i].text,
                     .tokens = count,
                     .start = alignment.starts[at] / kStepsPerSecond,
                     .end = end_of(at + count) / kStepsPerSecond,
                     .probability = mean(std::span(alignment.probabilities).subspan(at, count)),
                     .is_exact = !alignment.ends.empty()});
    at += count;
  }
  return words;
}

void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepended, std::string_view appended) {
  if (words.empty()) return;
  for (std::size_t behind = words.size() - 1, i = behind; i-- > 0;) {
    TimedWord& sign = words[i];
    if (sign.text.starts_with(' ') && holds(prepended, strip(sign.text))) {
      give(sign, words[behind], sign.text + words[behind].text);
    } else {
      behind = i;
    }
  }
  for (std::size_t before = 0, i = 1; i < words.size(); ++i) {
    TimedWord& sign = words[i];
    if (!words[before].text.ends_with(' ') && holds(appended, sign.text)) {
      give(sign, words[before], words[before].text + sign.text);
    } else {
      before = i;
    }
  }
}

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
  const bool is_exact = !words.empty() && words.front().is_exact;
  const WordLengths lengths = is_exact ? WordLengths() : lengths_of(words);
  cut_at_sentence_ends(words, lengths);
  merge_punctuations(words, rules.prepend_punctuations, rules.append_punctuations);

  const double offset = seconds_of_frames(segments.front().seek);
  std::size_t next = 0;
  for (Segment& segment : segments) {
    const auto tokens =
        std::count_if(segment.tokens.begin(), segment.tokens.end(), [eot](std::int32_t id) { return id < eot; });
    segment.words = take_words(words, next, static_cast<std::size_t>(tokens), offset);
    if (segment.words.empty()) continue;
    if (!is_exact) cut_after_silence(segment.words, lengths, last_speech);
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

namespace {

/// An encoder position covers two; a shorter window has no position for a word.
constexpr std::int64_t kFewestFrames = 2;

Result<void> check(const AlignAnswer& answer, std::size_t tokens, WindowSpan window) {
  const auto& starts = answer.starts;
  if (answer.probabilities.size() != tokens || starts.size() != tokens + 1 ||
      (!answer.ends.empty() && answer.ends.size() != tokens))
    return fail(Fault::internal, "alignment of " + std::to_string(tokens) +
                                     " tokens: expected as many probabilities and one start more, found " +
                                     std::to_string(answer.probabilities.size()) + " and " +
                                     std::to_string(starts.size()));
  if (!std::is_sorted(starts.begin(), starts.end()) || starts.front() < 0 || 2 * starts.back() > window.frames)
    return fail(Fault::internal, "alignment: expected starts that follow each other in the window's " +
                                     std::to_string(window.frames) + " frames, found others");
  return {};
}

}  // namespace

Result<WordSeek> WordTimer::add_words(std::vector<Segment>& segments, WindowSpan window, const SlicedWindow& sliced,
                                      const AroundWindow& around, WindowDecoder& decoder) const {
  auto words = TRY(words_of(segments, window, decoder));
  add_word_times(segments, std::move(words), rules_, tokenizer_.special().eot, around.last_speech);
  const WindowContext context{window, frames_per_window_, sliced.closed, around};
  WordSeek seek = seek_by_words(segments, context, rules_, sliced.next_seek);
  // A window that leads to itself would be decoded for ever.
  if (seek.next_seek <= window.seek) seek.next_seek = window.seek + window.frames;
  return seek;
}

Result<std::vector<TimedWord>> WordTimer::words_of(const std::vector<Segment>& segments, WindowSpan window,
                                                   WindowDecoder& decoder) const {
  AlignRequest request{.sot_sequence = sot_sequence_};
  for (const Segment& segment : segments)
    std::copy_if(segment.tokens.begin(), segment.tokens.end(), std::back_inserter(request.text),
                 [eot = tokenizer_.special().eot](std::int32_t id) { return id < eot; });
  if (request.text.empty()) return std::vector<TimedWord>{};
  if (window.frames < kFewestFrames)
    return timed_words(tokenizer_, request.text,
                       {.starts = std::vector<std::int32_t>(request.text.size() + 1),
                        .probabilities = std::vector<float>(request.text.size())},
                       language_);
  const auto answer = TRY(decoder.align(window, request));
  TRY(check(answer, request.text.size(), window));
  return timed_words(tokenizer_, request.text, answer, language_);
}

}  // namespace tutti
