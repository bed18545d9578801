#include <algorithm>

#include "text/code_points.h"
#include "text/utf8.h"
#include "transcript/doubt/doubt_parts.h"
#include "transcript/doubt/scripts.h"

namespace tutti {
namespace {

constexpr double kLeastText = 1.0;  // seconds that the text takes at least; shorter ones are too coarsely timed

}  // namespace

LetterCount letters_of(const std::string& text) {
  LetterCount count;
  for (const char32_t value : to_code_points(text)) {
    if (!is_letter(value) && !is_number(value)) continue;
    ++count.letters;
    count.fastest += 1 / fastest_letters(script_of(value));
  }
  return count;
}

std::vector<Doubt> find_fast(const ReviewedTranscript& it) {
  std::vector<Doubt> doubts;
  for (const Segment& segment : it.transcript.segments) {
    const LetterCount amount = letters_of(segment.text);
    const double slack = it.limits.time_slack;
    const double length = std::max(0.0, segment.end - segment.start);
    double speech = length;
    if (it.speech) speech = std::min(length, speech_within(*it.speech, segment.start - slack, segment.end + slack));
    if (speech <= 0 && length > 0) continue;  // no speech was detected at all: that is another doubt
    const double allowed = speech + slack;
    if (amount.fastest < kLeastText || amount.fastest <= allowed) continue;
    const bool by_ear = speech < 0.9 * length;
    doubts.push_back({.kind = DoubtKind::fast,
                      .start = segment.start,
                      .end = segment.end,
                      .severity = std::min(0.95, 0.5 + 0.6 * (1 - allowed / amount.fastest)),
                      .reason = std::to_string(amount.letters) + " letters in " + tenths(speech) + " s" +
                                (by_ear ? " of speech" : "") + ": the fastest speakers need " + tenths(amount.fastest) +
                                " s",
                      .excerpt = shortened(segment.text)});
  }
  return doubts;
}

}  // namespace tutti
