#include "transcript/doubt/doubt.h"

#include <algorithm>

#include "base/numbers.h"
#include "text/code_points.h"
#include "text/utf8.h"
#include "transcript/doubt/doubt_rules.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::size_t kExcerpt = 160;  // characters

/// A window that compresses well because of a loop that has been found in it.
bool is_less_specific(const Doubt& doubt, const std::vector<Doubt>& known) {
  return doubt.kind == DoubtKind::loop && std::any_of(known.begin(), known.end(), [&](const Doubt& k) {
           return k.kind == DoubtKind::loop && k.start >= doubt.start && k.end <= doubt.end;
         });
}

}  // namespace

std::string_view name_of(DoubtKind kind) {
  switch (kind) {
    case DoubtKind::loop: return "loop";
    case DoubtKind::invented: return "invented";
    case DoubtKind::improbable: return "improbable";
    case DoubtKind::language: return "language";
    case DoubtKind::gap: return "gap";
    case DoubtKind::fast: return "fast";
    case DoubtKind::fallback: return "fallback";
  }
  return "doubt";
}

std::vector<Doubt> find_doubts(const Transcript& transcript, const std::optional<std::vector<SpeechSegment>>& speech,
                               const DoubtLimits& limits) {
  const ReviewedTranscript it{transcript, speech, limits};
  std::vector<Doubt> doubts;
  for (const auto find : {find_loops, find_invented, find_gaps, find_fast, find_language_flips, find_low_numbers})
    for (Doubt& doubt : find(it))
      if (!is_less_specific(doubt, doubts)) doubts.push_back(std::move(doubt));
  std::stable_sort(doubts.begin(), doubts.end(), [](const Doubt& a, const Doubt& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.start < b.start;
  });
  return doubts;
}

double doubtfulness(std::span<const Doubt> doubts) {
  double all_wrong = 1;
  for (const Doubt& doubt : doubts) all_wrong *= 1 - std::clamp(doubt.severity, 0.0, 1.0);
  return 1 - all_wrong;
}

double speech_within(const std::vector<SpeechSegment>& speech, double start, double end) {
  auto span =
      std::partition_point(speech.begin(), speech.end(), [&](const SpeechSegment& s) { return s.end <= start; });
  double total = 0;
  for (; span != speech.end() && span->start < end; ++span)
    total += std::min(end, span->end) - std::max(start, span->start);
  return total;
}

bool has_words(const Segment& segment) {
  for (std::size_t at = 0; at < segment.text.size();) {
    const CodePoint point = code_point_at(segment.text, at);
    if (point.valid && (is_letter(point.value) || is_number(point.value))) return true;
    at += point.size;
  }
  return false;
}

std::string shortened(std::string_view text) {
  text = strip(text);
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == kExcerpt) return std::string(text.substr(0, at)) + "…";
    at += code_point_at(text, at).size;
  }
  return std::string(text);
}

std::string excerpt_of(const std::vector<Segment>& segments, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last && text.size() < 8 * kExcerpt; ++i) {
    const std::string_view part = strip(segments[i].text);
    if (!part.empty()) text += (text.empty() ? "" : " ") + std::string(part);
  }
  return shortened(text);
}

std::string tenths(double value) {
  return fixed_text(value, 1);
}

}  // namespace tutti
