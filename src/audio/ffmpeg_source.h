#pragma once

#include <memory>
#include <string>

#include "audio/byte_source.h"
#include "audio/losses.h"
#include "audio/sound_source.h"

namespace tutti {

/// Opens anything FFmpeg reads and decodes the audio stream that the ffmpeg program would pick: the one with most
/// channels, default streams first. `name` is the file's name without folders; its extension helps to tell formats
/// without a signature apart, and nothing else is ever opened (no playlist, no network). What cannot be decoded goes
/// into `losses`; both must outlive the source.
Result<std::unique_ptr<SoundSource>> open_with_ffmpeg(ByteSource& bytes, const std::string& name, Losses& losses);

}  // namespace tutti
