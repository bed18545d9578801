#pragma once

#include "base/error.h"
#include "train/whisper/training.h"

namespace tutti {

/// Adds to an error of going on from a checkpoint the settings that were others when OUT/config.toml was accepted: only
/// they, or the set itself, can be what does not fit.
Error with_changed_settings(Error error, const WhisperTraining& training);

}  // namespace tutti
