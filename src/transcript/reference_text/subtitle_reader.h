#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// A text that cannot be used, and where it would be.
struct UnusableText {
  Segment segment{};
  std::string reason{};
};

struct Subtitles {
  std::vector<Segment> texts{};
  std::vector<UnusableText> unusable{};  // whose times cannot be read, or run backwards
};

/// The texts of a subtitle file, SubRip (.srt) or WebVTT (.vtt), with their times, in the order of the file: lines of
/// one subtitle parted by "\n", without markup (<i>, <v Name>, {\an8}), notes, styles and settings; empty ones left
/// out, and where captions roll (as YouTube's do) every line comes once. A subtitle whose times cannot be read is
/// between its neighbours, for all that is known. Fault::corrupt where none can be used names the line.
Result<Subtitles> read_subtitles(std::string_view text);

}  // namespace tutti
