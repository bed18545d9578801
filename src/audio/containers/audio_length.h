#pragma once

#include <filesystem>
#include <optional>

#include "audio/byte_source.h"
#include "base/units.h"

namespace tutti {

/// How long a recording is by its own header, in a few small reads and without any decoder: WAV, RF64, W64, AIFF, AU,
/// CAF, FLAC, MP3, Ogg, MP4 and QuickTime, Matroska and WebM. None when the header does not say, when what the rest of
/// the file shows does not agree with it, as of files that were cut or joined, and for any other kind: it is then known
/// once the file is decoded. Still no measurement: damage within the file is not seen.
std::optional<Seconds> audio_length(ByteSource& bytes);

/// The same for a file; an error when it cannot be opened.
Result<std::optional<Seconds>> audio_length(const std::filesystem::path& path);

// The families, each none for a file that is not one of its own.
std::optional<Seconds> chunked_length(ByteSource& bytes);  // WAV, RF64, W64, AIFF, AU, CAF, FLAC
std::optional<Seconds> mp3_length(ByteSource& bytes);
std::optional<Seconds> mp4_length(ByteSource& bytes);
std::optional<Seconds> ogg_length(ByteSource& bytes);
std::optional<Seconds> matroska_length(ByteSource& bytes);

}  // namespace tutti
