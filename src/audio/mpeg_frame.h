#pragma once

#include <cstdint>
#include <optional>

#include "audio/byte_source.h"

namespace tutti {

/// What the four bytes before a frame of MPEG audio say (ISO 11172-3 and 13818-3).
struct MpegFrame {
  int version = 0;  // 1, 2, or 25 for the inofficial 2.5
  int layer = 0;
  int kilobits = 0;
  int rate = 0;
  bool mono = false;
  std::int64_t size = 0;  // bytes
  int samples = 0;
};

std::optional<MpegFrame> mpeg_frame_at(Peek& peek, std::int64_t at);

/// The first two frames in a row in [from, from + 4096): the second of them. `at`: where the first begins.
std::optional<MpegFrame> first_mpeg_frames(Peek& peek, std::int64_t from, std::int64_t& at);

/// Whether several frames of one kind follow one another from `at` on.
bool mpeg_frames_begin(Peek& peek, std::int64_t at);

/// What encoders write into the first frame of a recording, in one of two ways.
struct EncoderCount {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  // size of the whole stream; 0: not known
};

std::optional<EncoderCount> encoder_count(Peek& peek, std::int64_t at, const MpegFrame& frame);

/// Behind the ID3v2 tag at `at`; `at` where there is none.
std::int64_t behind_id3(Peek& peek, std::int64_t at);

}  // namespace tutti
