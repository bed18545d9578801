#pragma once

#include <optional>

#include "audio/byte_source.h"
#include "audio/sound_header.h"
#include "base/units.h"

namespace tutti {

/// How long a FLAC file is by its header, where its last frame agrees, and frames on the way count up to it: files are
/// cut, joined, and written by programs that never came to filling in how long they are.
std::optional<Seconds> flac_length(ByteSource& bytes, const SoundHeader& header);

}  // namespace tutti
