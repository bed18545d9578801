#pragma once

#include <string>
#include <string_view>

#include "transcript/transcript.h"

namespace tutti {

/// `text` with its lines parted by "\n" alone, whatever parted them, and without blank ones: an empty line would end a
/// subtitle, and a CR is no part of one.
std::string tidy_lines(std::string_view text);

/// Makes a transcript of other programs fit for subtitles: lines of segments are tidied, words hold no line breaks, and
/// a segment without words in a transcript that has them becomes one word, which keeps its text. Times that run
/// backwards are turned round, and end where the next segment begins; times that are NaN become those of the segments
/// around. Returns which they were, for people, or an empty text.
std::string tidy_transcript(Transcript& transcript);

}  // namespace tutti
