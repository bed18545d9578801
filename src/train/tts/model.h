#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "feed/voice/voice_set.h"
#include "text/speech/front_end.h"
#include "train/tts/network.h"

namespace tutti {

/// How a voice is spoken with where a command leaves it open.
struct SpeakingSettings {
  double pitch_range = 1;      // times the semitones that it learned
  double temperature = 0.333;  // scale of the noise
  double length_scale = 1;     // times the durations that it predicts
};

/// A voice as it is stored: what it reads, what it speaks as, and its network.
struct VoiceModel {
  VoiceMelOptions mel{};
  std::vector<float> mean{};  // [n_mels] of the training set's spectrograms, by bin
  float deviation = 1;        // deviation of all their values from these
  std::vector<std::string> speakers{};
  std::string language{};
  std::vector<SpeakingSettings> settings{};  // [speakers]
  std::size_t usual_speaker = 0;             // who speaks where no speaker is named
  std::string label{};                       // where the audio comes from that it learned from
  std::string front_end{};                   // bytes of the text front end
  std::string card{};                        // README.md
  VoiceNetwork network{};

  /// A new one for a set; its network has the set's symbols, speakers and mels. `seed`: as of
  /// new_voice_network.
  static VoiceModel start(const VoiceSet& set, VoiceShape shape, std::optional<std::uint64_t> seed, at::Device device);
  /// Fault::usage where the set has other symbols or spectrograms than the voice, which is in `folder`.
  Result<void> expect_form_of(const VoiceSet& set, const std::filesystem::path& folder) const;
  /// The number of a speaker by name; Fault::usage where the voice has none of it.
  Result<std::int64_t> speaker_named(const std::string& name) const;
  /// Everything that its folder holds beside the weights.
  std::map<std::string, std::string> files(const std::string& weight_type) const;
  /// Reads a folder, weights of any float type. Fault::usage for a model of another kind; Fault::missing or
  /// Fault::corrupt names the file.
  static Result<VoiceModel> load(const std::filesystem::path& folder, at::Device device);
};

}  // namespace tutti
