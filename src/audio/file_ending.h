#pragma once

#include <optional>
#include <string>

#include "audio/byte_source.h"

namespace tutti {

/// What is wrong with the end of a file whose container tells whole files from truncated ones while FFmpeg does not
/// (Ogg, AVI, FLV), as a sentence. None for a whole file and for every other kind.
std::optional<std::string> broken_ending(ByteSource& bytes);

}  // namespace tutti
