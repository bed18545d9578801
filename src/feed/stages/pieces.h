#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "feed/options.h"
#include "transcript/transcript.h"

namespace tutti {

/// A stretch of a long recording with all the text that is spoken in it.
struct Piece {
  double start = 0;  ///< seconds in the recording
  double end = 0;
  bool cut_start = false;  ///< the recording goes on before it: the cut may move to the quietest point nearby
  bool cut_end = false;    ///< likewise behind it
  std::string text{};
  std::vector<TimedText> times{};  ///< from the recording's start
};

/// How far a cut may move to find quiet.
inline constexpr double kCutSearch = 0.25;

/// Where cuts fall.
struct CutRule {
  Chunking chunking = Chunking::sequential;
  std::uint64_t key = 0;  ///< what `random` draws from
};

/// Cuts a recording of `seconds` into pieces of at most `window` seconds, between segments, in the middle of what is
/// silent between them; a segment that is itself too long is cut between its words. Text is never parted from its
/// audio; silence of more than a second beside a piece is left out. Fault::corrupt where one segment does not fit and
/// has no times of words, or is outside the recording. Pure.
Result<std::vector<Piece>> cut_pieces(const Transcript& transcript, double seconds, double window,
                                      const CutRule& rule = {});

/// The middle of the quietest 20 ms of [first, last), 16 kHz.
std::int64_t quietest(std::span<const std::int16_t> pcm, std::int64_t first, std::int64_t last);

}  // namespace tutti
