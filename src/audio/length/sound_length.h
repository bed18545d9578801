#pragma once

#include <filesystem>
#include <optional>

#include "audio/byte_source.h"
#include "base/units.h"

namespace tutti {

/// How long a recording is by its own header, in a few small reads and without any decoder: WAV, RF64, W64, AIFF, AU,
/// CAF, FLAC, MP3, Ogg, MP4 and QuickTime, Matroska and WebM. A claim, not a measurement: a damaged file may hold less.
/// None when the header does not say, or for any other kind.
std::optional<Seconds> sound_length(ByteSource& bytes);

/// The same for a file; an error when it cannot be opened.
Result<std::optional<Seconds>> sound_length(const std::filesystem::path& path);

// The families, each none for a file that is not one of its own.
std::optional<Seconds> chunked_length(ByteSource& bytes);  // WAV, RF64, W64, AIFF, AU, CAF, FLAC
std::optional<Seconds> mp3_length(ByteSource& bytes);
std::optional<Seconds> mp4_length(ByteSource& bytes);
std::optional<Seconds> ogg_length(ByteSource& bytes);
std::optional<Seconds> matroska_length(ByteSource& bytes);

}  // namespace tutti
