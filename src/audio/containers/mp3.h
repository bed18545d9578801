#pragma once

#include "audio/byte_source.h"

namespace tutti {

/// Whether an MP3 file is as long as its encoder wrote it, whatever its count of frames is.
bool mp3_is_whole(ByteSource& bytes);

/// Whether the encoder's count of frames cannot be that of the file's, by what a few of them last.
bool mp3_counts_wrong(ByteSource& bytes);

}  // namespace tutti
