#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "audio/clip/clip.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Seconds of sound in the file, by its header. Where that does not say (AAC without a container), a guess of no more
/// than the window: the row's real length is what counts in the end.
Result<double> seconds_of(const std::filesystem::path& path, Seconds window);

/// The whole file.
Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path);

/// Formats that libsndfile does not know: the whole file through a decoding child, then the part of it. Fault::missing:
/// the file, what decodes it, or a place (TMPDIR) for what that writes.
Result<NativeClip> decode_in_child(const std::filesystem::path& path, const ClipRange& range);

}  // namespace tutti
