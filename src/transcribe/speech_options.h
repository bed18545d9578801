#pragma once

#include <optional>

#include "audio/audio_choice.h"
#include "audio/vad/vad_options.h"
#include "transcribe/decoding_options.h"
#include "transcript/long_form_options.h"

namespace tutti {

/// What decides the transcript of one recording. A command has one for all its files; every request to a server has its
/// own.
struct SpeechOptions {
  AudioChoice audio{};              // which track and channel is decoded
  std::optional<VadOptions> vad{};  // only speech is transcribed; none: everything
  bool batched = false;             // needs VAD: independent chunks of speech instead of the reference's loop
  LongFormOptions long_form{};
  DecodingOptions decoding{};
};

}  // namespace tutti
