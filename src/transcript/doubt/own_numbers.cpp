#include <algorithm>

#include "transcript/compression_ratio.h"
#include "transcript/doubt/doubt_parts.h"

namespace tutti {
namespace {

/// Segments [first, last) of one window: the model's numbers are a window's, and every segment of it repeats them.
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};

bool same_window(const Segment& a, const Segment& b) {
  return a.seek == b.seek && a.temperature == b.temperature && a.avg_logprob == b.avg_logprob;
}

std::vector<Window> windows_of(const std::vector<Segment>& segments) {
  std::vector<Window> windows;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (windows.empty() || !same_window(segments[windows.back().first], segments[i])) windows.push_back({i, i});
    windows.back().last = i + 1;
  }
  return windows;
}

/// How well what is left of a window's text compresses. Its own number is of all that was decoded, loops that the
/// long-form rules have cleared since included.
double compression_of(const std::vector<Segment>& segments, const Window& window) {
  std::string text;
  for (std::size_t i = window.first; i < window.last; ++i) text += segments[i].text;
  return compression_ratio(text);
}

/// What a window's numbers say against it: kinds, severities and reasons.
std::vector<Doubt> doubts_of(const Segment& s, double compression, const DoubtLimits& limits) {
  std::vector<Doubt> doubts;
  if (s.avg_logprob < limits.least_logprob)
    doubts.push_back({.kind = DoubtKind::improbable,
                      .severity = std::min(0.95, 0.55 + 0.5 * (limits.least_logprob - s.avg_logprob)),
                      .reason = "average log-probability " + tenths(s.avg_logprob) + " (below " +
                                tenths(limits.least_logprob) + ")"});
  if (compression > limits.most_compression)
    doubts.push_back({.kind = DoubtKind::loop,
                      .severity = std::min(0.9, 0.3 + 0.6 * (compression - limits.most_compression)),
                      .reason = "repetitive: the text compresses " + tenths(compression) + " times (above " +
                                tenths(limits.most_compression) + ")"});
  if (s.temperature >= limits.fallback_from)
    doubts.push_back({.kind = DoubtKind::fallback,
                      .severity = std::min(0.75, 0.2 + 0.5 * s.temperature),
                      .reason = "accepted only at temperature " + tenths(s.temperature)});
  return doubts;
}

}  // namespace

std::vector<Doubt> find_low_numbers(const ReviewedTranscript& it) {
  const auto& segments = it.transcript.segments;
  std::vector<Doubt> doubts;
  for (const Window& window : windows_of(segments)) {
    const auto begin = segments.begin() + static_cast<std::ptrdiff_t>(window.first);
    const auto end = segments.begin() + static_cast<std::ptrdiff_t>(window.last);
    if (std::none_of(begin, end, has_words)) continue;
    for (Doubt& doubt : doubts_of(*begin, compression_of(segments, window), it.limits)) {
      doubt.start = begin->start;
      doubt.end = (end - 1)->end;
      doubt.excerpt = excerpt_of(segments, window.first, window.last);
      doubts.push_back(std::move(doubt));
    }
  }
  return doubts;
}

}  // namespace tutti
