#include <algorithm>

#include "transcript/doubt/doubt_rules.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr double kNothing = 0.2;         // seconds of speech that a detector may find in a cough
constexpr double kJoinedSilence = 1.0;   // shorter silence does not end a gap
constexpr double kSureSilence = 0.9;     // no_speech_prob that counts without a detector
constexpr std::size_t kFewestWords = 3;  // in silence, within a segment with speech elsewhere

struct Stretch {
  double start = 0;
  double end = 0;
};

bool is_without_speech(const std::vector<SpeechSegment>& speech, double start, double end, double slack) {
  if (speech_within(speech, start - slack, end + slack) < kNothing) return true;
  const double length = end - start;  // long enough that the times' error does not explain it
  return length > 4 * slack && speech_within(speech, start, end) < std::min(0.1 * length, 1.0);
}

/// The doubt about segments [first, last), in which no speech was detected.
Doubt without_speech(const ReviewedTranscript& it, std::size_t first, std::size_t last) {
  const auto& segments = it.transcript.segments;
  const double start = segments[first].start, end = segments[last - 1].end;
  double severity = 0.7 + std::min(0.15, (end - start) / 60);
  std::string reason = "text over " + tenths(end - start) + " s in which no speech was detected";
  if (segments[first].no_speech_prob > 0.6) {
    severity += 0.05;
    reason += "; the model itself doubts there is any (" + tenths(segments[first].no_speech_prob) + ")";
  }
  if (is_phantom(segments[first].text)) {
    severity += 0.08;
    reason += "; Whisper is known to say this to silence";
  }
  return {DoubtKind::invented, start, end, severity, std::move(reason), excerpt_of(segments, first, last)};
}

/// Words in silence, in a segment with speech elsewhere.
void add_words_without_speech(const ReviewedTranscript& it, const Segment& segment, std::vector<Doubt>& out) {
  std::size_t first = 0;
  for (std::size_t i = 0; i <= segment.words.size(); ++i) {
    const double slack = it.limits.time_slack;
    if (i < segment.words.size() &&
        speech_within(*it.speech, segment.words[i].start - slack, segment.words[i].end + slack) < kNothing / 2)
      continue;
    if (i - first >= kFewestWords) {
      const double start = segment.words[first].start, end = segment.words[i - 1].end;
      std::string text;
      for (std::size_t n = first; n < i; ++n) text += segment.words[n].word;
      out.push_back({DoubtKind::invented, start, end, 0.6,
                     std::to_string(i - first) + " words in a silence of the segment", shortened(text)});
    }
    first = i + 1;
  }
}

std::vector<Doubt> by_the_model(const ReviewedTranscript& it) {
  std::vector<Doubt> doubts;
  for (const Segment& segment : it.transcript.segments) {
    if (segment.no_speech_prob <= kSureSilence || !has_words(segment)) continue;
    doubts.push_back({DoubtKind::invented, segment.start, segment.end, is_phantom(segment.text) ? 0.6 : 0.5,
                      "the model takes this for silence (" + tenths(100 * segment.no_speech_prob) + " %)",
                      shortened(segment.text)});
  }
  return doubts;
}

/// `from` without what is in [start, end).
void subtract(std::vector<Stretch>& from, double start, double end) {
  std::vector<Stretch> rest;
  for (const Stretch& part : from) {
    if (part.start < std::min(part.end, start)) rest.push_back({part.start, std::min(part.end, start)});
    if (std::max(part.start, end) < part.end) rest.push_back({std::max(part.start, end), part.end});
  }
  from = std::move(rest);
}

/// Text segments' times in order, joined where they touch, with the slack at both sides.
std::vector<Stretch> text_stretches(const ReviewedTranscript& it) {
  std::vector<Stretch> parts;
  for (const Segment& segment : it.transcript.segments)
    if (has_words(segment)) parts.push_back({segment.start - it.limits.time_slack, segment.end + it.limits.time_slack});
  std::sort(parts.begin(), parts.end(), [](const Stretch& a, const Stretch& b) { return a.start < b.start; });
  std::vector<Stretch> joined;
  for (const Stretch& part : parts) {
    if (joined.empty() || part.start > joined.back().end) joined.push_back(part);
    joined.back().end = std::max(joined.back().end, part.end);
  }
  return joined;
}

/// Speech outside of all text, in order.
std::vector<Stretch> untranscribed(const ReviewedTranscript& it) {
  const auto covered = text_stretches(it);
  std::vector<Stretch> rest;
  std::size_t at = 0;
  for (const SpeechSegment& span : *it.speech) {
    while (at < covered.size() && covered[at].end <= span.start) ++at;
    std::vector<Stretch> left{{span.start, span.end}};
    for (std::size_t i = at; i < covered.size() && covered[i].start < span.end; ++i)
      subtract(left, covered[i].start, covered[i].end);
    rest.insert(rest.end(), left.begin(), left.end());
  }
  return rest;
}

Doubt gap(double start, double end, double speech) {
  return {DoubtKind::gap,
          start,
          end,
          std::min(0.95, 0.45 + 0.035 * speech),
          tenths(speech) + " s of speech without text",
          {}};
}

/// Segments whose text is next to nothing for the speech detected in them: a window that ended early.
void add_sparse(const ReviewedTranscript& it, std::vector<Doubt>& out) {
  constexpr double kLeastSpeech = 8, kFewestLetters = 1.2;  // a second: a tenth of what people say
  for (const Segment& segment : it.transcript.segments) {
    const double speech = speech_within(*it.speech, segment.start, segment.end);
    const auto letters = static_cast<double>(characters(strip(segment.text)));
    if (!has_words(segment) || speech < kLeastSpeech || letters > kFewestLetters * speech) continue;
    out.push_back(
        {DoubtKind::gap, segment.start, segment.end, 0.65,
         tenths(speech) + " s of speech have only " + std::to_string(static_cast<int>(letters)) + " characters of text",
         shortened(segment.text)});
  }
}

}  // namespace

std::vector<Doubt> find_invented(const ReviewedTranscript& it) {
  if (!it.speech) return by_the_model(it);
  std::vector<Doubt> doubts;
  const auto& segments = it.transcript.segments;
  const auto is_invented = [&](const Segment& s) {
    return has_words(s) && is_without_speech(*it.speech, s.start, s.end, it.limits.time_slack);
  };
  for (std::size_t first = 0; first < segments.size(); ++first) {
    if (!is_invented(segments[first])) {
      add_words_without_speech(it, segments[first], doubts);
      continue;
    }
    std::size_t last = first + 1;
    while (last < segments.size() && is_invented(segments[last])) ++last;
    doubts.push_back(without_speech(it, first, last));
    first = last - 1;
  }
  return doubts;
}

std::vector<Doubt> find_gaps(const ReviewedTranscript& it) {
  std::vector<Doubt> doubts;
  if (!it.speech) return doubts;
  const auto rest = untranscribed(it);
  for (std::size_t i = 0; i < rest.size();) {
    const std::size_t first = i;
    double speech = 0;
    for (; i < rest.size() && (i == first || rest[i].start - rest[i - 1].end < kJoinedSilence); ++i)
      speech += rest[i].end - rest[i].start;
    if (speech >= it.limits.least_gap) doubts.push_back(gap(rest[first].start, rest[i - 1].end, speech));
  }
  add_sparse(it, doubts);
  return doubts;
}

}  // namespace tutti
