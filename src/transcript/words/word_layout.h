#pragma once

#include <vector>

#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {

/// The words of every subtitle, none of them empty, with their whitespace as it is to be shown: a word that begins a
/// line has lost its leading space and, inside a subtitle, carries a line feed in front (openai-whisper 20250625,
/// utils.py, SubtitlesWriter.iterate_result).
std::vector<std::vector<Word>> lay_out_words(const std::vector<Segment>& segments, const WriterOptions& options);

}  // namespace tutti
