#pragma once

#include "audio/recording.h"
#include "audio/sample_reader.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Less may be a cough.
inline constexpr Seconds kLeastSpeech{0.5};

/// How much speech a recording has, by Silero's probabilities. `on_audio_decoded` as for decode_recording.
Result<Seconds> speech_in(const SampleReader& recording, const OnDecoded& on_audio_decoded = {});

/// Whether at least a hundredth of it, and kLeastSpeech, is speech. Reads from the start, only as far as it has to.
Result<bool> has_speech(const SampleReader& recording, const OnDecoded& on_audio_decoded = {});

}  // namespace tutti
