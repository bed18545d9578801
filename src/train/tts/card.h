#pragma once

#include <optional>
#include <string>

#include "feed/voice/voice_set.h"
#include "train/tts/task.h"

namespace tutti {

/// README.md of a voice's folder: what it is, what it learned from, what its last evaluation found (none where nothing
/// evaluates it), how to use it.
std::string voice_card(const VoiceModel& model, const VoiceSet& set, const std::optional<VoiceScores>& scores);

}  // namespace tutti
