#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "feed/voice/voice_set.h"
#include "train/vocoder/network.h"
#include "train/vocoder/source_filter.h"

namespace tutti {

/// A trained vocoder as it is stored. Immutable but for its weights; one thread at a time.
struct VocoderModel {
  VoiceMelOptions mel{};
  std::vector<float> mean{};  // [n_mels] of the training set's spectrograms, by bin
  float deviation = 1;        // deviation of all their values from these
  std::string label{};        // where the audio comes from that it learned from
  std::string card{};         // README.md
  VocoderNetwork network{};
  std::optional<SourceFilter> filter{};  // of `mel`, on the CPU

  /// A new one for a set, of whose spectrograms the network has the mels and bins. `seed` as of new_vocoder_network.
  static VocoderModel start(const VoiceSet& set, VocoderShape shape, std::optional<std::uint64_t> seed,
                            at::Device device);
  /// Everything that its folder holds beside the weights.
  std::map<std::string, std::string> files(const std::string& weight_type) const;
  /// Reads a folder, weights of any float type. Fault::usage for a model of another kind; Fault::missing or
  /// Fault::corrupt names the file.
  static Result<VocoderModel> load(const std::filesystem::path& folder, at::Device device);

  /// log_mel: row-major [frames, n_mels], natural logarithms -> frames * hop samples, as GriffinLim::audio_of. The
  /// same every time: noise is drawn by a seed of its own.
  std::vector<float> audio_of(std::span<const float> log_mel, std::int64_t frames) const;
};

}  // namespace tutti
