#pragma once

#include <memory>

#include "audio/byte_source.h"
#include "audio/sound_source.h"

namespace tutti {

/// The fast path: WAV and AIFF with plain samples and FLAC, mono or stereo, by libsndfile, without loading FFmpeg's
/// codecs (20 ms a file). It takes undamaged files only and is strict about it: null for everything it does not know to
/// come out as from FFmpeg, and an error from `next` as soon as something is odd; FFmpeg then decodes the file from its
/// start. `bytes` must outlive the source.
std::unique_ptr<SoundSource> open_with_sndfile(ByteSource& bytes);

}  // namespace tutti
