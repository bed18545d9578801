#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

enum class AudioFormat { wav, flac, mp3, opus };

/// Samples of -1 to 1 in 16 bits; louder ones are clipped.
std::vector<std::int16_t> pcm_of(std::span<const float> samples);

/// A WAV file of mono samples of 16 bits, whole. `software`, where it is not empty, is named in a chunk of facts (LIST
/// INFO ISFT) before the samples, else these begin at byte 44.
std::string wav_bytes(std::span<const std::int16_t> pcm, Hertz rate, std::string_view software = {});

/// What a WAV stream begins with: mono samples of 16 bits follow, as many as come. Both lengths are 2^32 - 1, which
/// players and FFmpeg read as "to the end".
std::string streamed_wav_header(Hertz rate);

/// A file of any of the formats, whole; Opus is in Ogg. Fault::unsupported for a rate that the format does not have
/// (Opus: all but 8, 12, 16, 24 and 48 kHz), and where this machine's libsndfile does not write it.
Result<std::string> audio_bytes(std::span<const std::int16_t> pcm, AudioFormat format, Hertz rate);

/// Writes mono samples of 16 bits. No fsync: a corpus is made again from its seed.
Result<void> write_audio(const std::filesystem::path& path, std::span<const std::int16_t> pcm, AudioFormat format,
                         Hertz rate = kModelRate);

}  // namespace tutti
