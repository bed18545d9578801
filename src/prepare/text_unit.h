#pragma once

#include <string>
#include <vector>

#include "feed/stages/pieces.h"
#include "transcript/transcript.h"

namespace tutti {

/// A subtitle or sentence of a recording on its way into a corpus.
struct TextUnit {
  Segment segment{};      // once aligned, with its words
  bool is_sure = true;    // its times are about right; else it is somewhere among its unsure neighbours
  double score = 0;       // mean probability of its words, 0 to 1
  std::string refused{};  // why it is not taken; empty: it is
};

/// A stretch of seconds.
struct Stretch {
  double start = 0;
  double end = 0;
};

/// A stretch of a recording that becomes a sample.
struct PreparedPiece {
  Piece piece{};
  double score = 0;
  Stretch around_start{};  // where the cut may fall: between the words on either side
  Stretch around_end{};
};

/// 0 without words.
double mean_probability(const std::vector<Word>& words);

/// Refuses the aligned units whose score is below `least_score`, and those whose words got too little time to be
/// spoken.
void score_units(std::vector<TextUnit>& units, double least_score);

/// Cuts the recording of `seconds` into pieces of at most `window` seconds around the units that are not refused. No
/// piece holds audio of a refused one. A unit that cannot be cut is refused.
std::vector<PreparedPiece> cut_units(std::vector<TextUnit>& units, double seconds, double window);

}  // namespace tutti
