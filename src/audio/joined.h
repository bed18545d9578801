#pragma once

#include <cstdint>

#include "audio/byte_source.h"

namespace tutti {

/// Where the first recording of a file ends and another begins, as `cat` and some recorders put them behind one
/// another; the file's size where none does. Containers that FFmpeg reads on in by itself (MP3, AAC, Ogg, transport
/// streams, FLV) count as one. Files whose header does not say how long they are have to be searched from start to end;
/// with `may_search` false they count as one, too.
std::int64_t first_recording_end(ByteSource& bytes, bool may_search = true);

/// The same for FLAC, which has to be searched from start to end.
std::int64_t first_flac_end(ByteSource& bytes);

}  // namespace tutti
