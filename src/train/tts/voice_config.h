#pragma once

#include <filesystem>

#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "base/json.h"

namespace tutti {

/// A kind of model whose folder holds a config.json with the options of its spectrograms.
struct VoiceModelKind {
  /// "model_type" in config.json.
  const char* type;
  /// For people, such as "voice".
  const char* name;
  /// The command that makes one, such as "tutti train tts".
  const char* command;
};
inline constexpr VoiceModelKind kVoiceKind{"tutti-voice", "voice", "tutti train tts"};
inline constexpr VoiceModelKind kVocoderKind{"tutti-vocoder", "vocoder", "tutti train vocoder"};

/// The options of spectrograms as config.json keeps them. Thread-safe.
nlohmann::ordered_json json_of(const VoiceMelOptions& mel);
/// And back; throws what the JSON library does where something is missing. Thread-safe.
VoiceMelOptions mel_of(const nlohmann::ordered_json& json);

/// A folder's config.json. Fault::usage for a folder that holds a model of another kind; Fault::missing or
/// Fault::corrupt names the file.
Result<nlohmann::ordered_json> config_of(const std::filesystem::path& folder, const VoiceModelKind& kind);

}  // namespace tutti
