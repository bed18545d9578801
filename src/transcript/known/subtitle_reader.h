#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// The texts of a subtitle file, SubRip (.srt) or WebVTT (.vtt), with their times, in the order of the file: lines of
/// one subtitle joined by spaces, without markup (<i>, <v Name>, {\an8}), notes, styles and settings; empty ones left
/// out, and where captions roll (as YouTube's do) every line is told once. Fault::corrupt names the line whose times
/// cannot be read, and files without any.
Result<std::vector<Segment>> read_subtitles(std::string_view text);

}  // namespace tutti
