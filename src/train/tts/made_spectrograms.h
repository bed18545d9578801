#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "feed/voice/voice_set.h"
#include "train/tts/model.h"

namespace tutti {

/// What a voice makes of the texts of a set's clips, in the time of their recordings: a symbol lasts as long as the
/// best monotonic path finds it there. A vocoder that learns of these learns of what it gets when the voice speaks
/// ("ground-truth aligned" spectrograms: HiFi-GAN, Kong et al. 2020, section 4.4). Thread-safe.
class MadeSpectrograms {
 public:
  /// `voice`: a folder. Fault::usage for a voice of other symbols, spectrograms or speakers than the set's; other
  /// errors as of VoiceModel::load.
  static Result<std::shared_ptr<MadeSpectrograms>> open(const std::filesystem::path& voice,
                                                        std::shared_ptr<const VoiceSet> set);

  /// Row-major [frames, n_mels] of a clip from frame `first` on, natural logarithms; the clip has as many frames as its
  /// recording. It is made on the CPU when it is first requested, the same at every call, and kept: 2 bytes a value.
  std::vector<float> of(std::int64_t clip, std::int64_t first, std::int64_t frames);
  /// A digest of the voice.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  MadeSpectrograms(VoiceModel model, std::shared_ptr<const VoiceSet> set, std::vector<std::int64_t> speakers,
                   std::uint64_t fingerprint)
      : model_(std::move(model)), set_(std::move(set)), speakers_(std::move(speakers)), fingerprint_(fingerprint) {}
  at::Tensor made(std::int64_t clip) const;

  VoiceModel model_;
  std::shared_ptr<const VoiceSet> set_;
  std::vector<std::int64_t> speakers_;  // of the voice, by the set's number of theirs
  std::uint64_t fingerprint_;
  Mutex mutex_{};
  std::unordered_map<std::int64_t, at::Tensor> kept_ TUTTI_GUARDED_BY(mutex_){};  // [frames, n_mels] float16 by clip
};

}  // namespace tutti
