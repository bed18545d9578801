#pragma once

#include <string>
#include <vector>

#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {

/// The words of one subtitle.
struct LaidOutWords {
  std::vector<Word> words{};  // never empty
  std::string speaker{};      // of all of them; empty: not known
};

/// The words of every subtitle with their whitespace as it is to be shown: a word that begins a line has lost its
/// leading space and, inside a subtitle, carries a line feed in front (openai-whisper 20250625, utils.py,
/// SubtitlesWriter.iterate_result). Where the speaker changes, a new subtitle begins.
std::vector<LaidOutWords> lay_out_words(const std::vector<Segment>& segments, const WriterOptions& options);

}  // namespace tutti
