#pragma once

#include <cstdint>
#include <optional>

#include "audio/byte_source.h"

namespace tutti {

enum class PlainContainer { wav, aiff, flac };

/// What the first bytes of a simple file say, read independently of any library, so that a library that quietly repairs
/// a header cannot hide what is missing.
struct SoundHeader {
  PlainContainer container = PlainContainer::wav;
  std::int64_t data_bytes = 0;  // WAV, AIFF: encoded samples; all of them are in the file
  std::int64_t frames = 0;      // FLAC: total samples of a channel; 0: not said
};

/// Where a FLAC file says how many samples it has: 36 bits, the low four of the first byte and the next four.
inline constexpr std::int64_t kFlacTotalOffset = 21;

/// None for any other file, and for WAV and AIFF whose samples are cut off.
std::optional<SoundHeader> read_sound_header(ByteSource& bytes);

}  // namespace tutti
