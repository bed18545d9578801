#pragma once

#include <memory>
#include <optional>

#include "audio/audio_choice.h"
#include "audio/vad/vad_options.h"
#include "diarize/diarize_options.h"
#include "link/decoding_options.h"
#include "transcript/long_form_options.h"

namespace tutti {

class ReplacementList;

/// What decides the transcript of one recording. A command has one for all its files; every request to a server has its
/// own. The defaults are those of openai-whisper's functions in Python; its command line and ours have others.
struct SpeechOptions {
  AudioChoice audio{};              // which track and channel is decoded
  std::optional<VadOptions> vad{};  // only speech is transcribed; none: everything
  bool batched = false;             // needs VAD: independent chunks of speech instead of the reference's loop
  bool keyed = false;               // windows are short and each is read once (fit_keying sets it)
  /// How windows follow each other: their prompts, the temperatures of each, the clips that are transcribed.
  LongFormOptions long_form{};
  /// How each of them is decoded.
  DecodingOptions decoding{.best_of = 5, .suppress_tokens = {-1}};
  /// None: who speaks is not found.
  std::optional<DiarizeOptions> diarize{};
  /// Texts that are written otherwise; null: none.
  std::shared_ptr<const ReplacementList> replacements{};
};

}  // namespace tutti
