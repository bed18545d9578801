#pragma once

#include <algorithm>
#include <vector>

#include "audio/log_mel.h"

namespace tutti {

struct SpeechPiece {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

struct SpeechChunk {
  std::vector<SpeechPiece> pieces;
  std::int64_t samples() const {
    std::int64_t sum = 0;
    for (auto& p : pieces) sum += p.end - p.start;
    return sum;
  }
  Seconds length() const { return length_of(samples(), kModelRate); }
  double original(double seconds, bool) const { return seconds + static_cast<double>(pieces.front().start) / 16000; }
};

inline std::vector<SpeechChunk> interim_chunks(const Recording& r, std::int64_t most) {
  std::vector<SpeechChunk> out;
  for (std::int64_t at = 0; at < r.samples(); at += most) out.push_back({{{at, std::min(at + most, r.samples())}}});
  return out;
}

}  // namespace tutti
