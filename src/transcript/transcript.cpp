#include "transcript/transcript.h"

#include <algorithm>

namespace tutti {

bool is_cleared(const Segment& segment) {
  return segment.text.empty() && segment.tokens.empty();
}

bool has_text(const Transcript& transcript) {
  return std::ranges::any_of(transcript.segments, [](const Segment& segment) {
    return segment.text.find_first_not_of(" \t\r\n") != std::string::npos;
  });
}

bool has_word_times(const Transcript& transcript) {
  const auto& segments = transcript.segments;
  if (std::any_of(segments.begin(), segments.end(), [](const Segment& segment) { return !segment.words.empty(); }))
    return true;
  return std::all_of(segments.begin(), segments.end(), is_cleared);
}

}  // namespace tutti
