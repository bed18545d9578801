#include "transcript/hallucinations.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "transcript/word_times.h"

namespace tutti {
namespace {

constexpr std::string_view kPunctuation = "\"'“¿([{-\"'.。,，!！?？:：”)]}、";
constexpr std::size_t kScoredWords = 8;

/// Seconds; closer to an edge of the window than this counts as beside silence.
constexpr double kNearEdge = 2.0;

double anomaly_score(const Word& word) {
  constexpr double kImprobable = 0.15, kShort = 0.133, kLong = 2.0;
  const double duration = word.end - word.start;
  double score = word.probability < kImprobable ? 1.0 : 0.0;
  if (duration < kShort) score += (kShort - duration) * 15;
  if (duration > kLong) score += duration - kLong;
  return score;
}

using Segments = std::vector<Segment>;

Segments::const_iterator next_with_words(Segments::const_iterator from, const Segments& segments) {
  return std::find_if(from, segments.end(), [](const Segment& segment) { return !segment.words.empty(); });
}

std::int64_t frame_of(double seconds) {
  return std::llround(std::nearbyint(seconds * kFramesPerSecond));
}

/// The times the rules compare with, in seconds.
struct Edges {
  double start;
  double end;         // end of a whole window from here
  double window_end;  // end of the window as it is
  double content_end;

  explicit Edges(const WindowContext& window)
      : start(seconds_of_frames(window.span.seek)),
        end(seconds_of_frames(window.span.seek + window.frames_per_window)),
        window_end(start + seconds_of_frames(window.span.frames)),
        content_end(seconds_of_frames(window.around.content_frames)) {}
};

/// Does silence, or more of its kind, lie on both sides of the anomalous `suspect`?
bool is_in_silence(Segments::const_iterator suspect, const Segments& segments, double speech_before, const Edges& edges,
                   double threshold) {
  const auto next = next_with_words(suspect + 1, segments);
  const double speech_after = next != segments.end() ? next->words.front().start : edges.window_end;
  const bool before = suspect->start - speech_before > threshold || suspect->start < threshold ||
                      suspect->start - edges.start < kNearEdge;
  const bool after = speech_after - suspect->end > threshold || (next != segments.end() && is_anomalous(*next)) ||
                     edges.end - suspect->end < kNearEdge;
  return before && after;
}

/// The first segment that looks invented and is in silence; the end if there is none.
Segments::const_iterator first_invented(const Segments& segments, double last_speech, const Edges& edges,
                                        double threshold) {
  for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
    if (segment->words.empty()) continue;
    if (is_anomalous(*segment) && is_in_silence(segment, segments, last_speech, edges, threshold)) return segment;
    last_speech = segment->end;
  }
  return segments.end();
}

}  // namespace

bool is_anomalous(const Segment& segment) {
  if (segment.words.empty()) return false;
  double score = 0;
  std::size_t scored = 0;
  for (const Word& word : segment.words) {
    if (kPunctuation.find(word.word) != kPunctuation.npos) continue;
    score += anomaly_score(word);
    if (++scored == kScoredWords) break;
  }
  return score >= 3 || score + 0.01 >= static_cast<double>(scored);
}

WordSeek seek_by_words(Segments& segments, const WindowContext& window, const WordRules& rules,
                       std::int64_t next_seek) {
  const Edges edges(window);
  const std::int64_t seek = window.span.seek;
  const std::optional<double> speech = speech_end(segments);
  const bool goes_on_at_speech = !rules.reads_windows_once && !window.closed && speech && *speech > edges.start;
  if (goes_on_at_speech) next_seek = frame_of(*speech);
  if (!rules.hallucination_silence_threshold) return {.next_seek = next_seek};

  const double threshold = *rules.hallucination_silence_threshold;
  if (goes_on_at_speech && !(edges.end - *speech > threshold)) next_seek = seek + window.span.frames;
  const auto first = next_with_words(segments.begin(), segments);
  if (first != segments.end() && is_anomalous(*first)) {
    const double gap = first->start - edges.start;
    if (gap > threshold) {
      segments.clear();
      return {.next_seek = seek + frame_of(gap), .dropped = true};
    }
  }
  const auto invented = first_invented(segments, window.around.last_speech, edges, threshold);
  if (invented == segments.end()) return {.next_seek = next_seek};
  next_seek = frame_of(std::max(edges.start + 1, invented->start));
  if (edges.content_end - invented->end < threshold) next_seek = window.around.content_frames;
  segments.erase(invented, segments.end());
  return {.next_seek = next_seek};
}

}  // namespace tutti
