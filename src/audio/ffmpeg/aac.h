#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

// AAC for answers over HTTP. libsndfile, which writes the other formats (audio/synth/audio_file.h), has no encoder for
// it; FFmpeg, which decodes here, has one.

/// Mono samples of 16 bits as AAC-LC at 64 kbit/s, whole.
///
/// The bytes are ADTS frames (ISO/IEC 13818-7), which is what players and browsers open as .aac, and what
/// `audio/aac` means over HTTP. Each frame has 1,024 samples: the last one ends in silence, and the encoder's delay
/// of a frame comes before the first sample.
///
/// AAC has the rates 8, 11.025, 12, 16, 22.05, 24, 32, 44.1, 48, 64, 88.2 and 96 kHz. FFmpeg's libraries are loaded at
/// the first call.
///
/// Errors:
/// * Fault::missing: this machine does not have them.
/// * Fault::unsupported: they have no such encoder, or AAC has no such rate.
///
/// Thread-safe.
Result<std::string> aac_bytes(std::span<const std::int16_t> pcm, Hertz rate);

}  // namespace tutti
