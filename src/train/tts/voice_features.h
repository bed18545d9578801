#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/augment/augmentation.h"
#include "audio/voice/voice_mel.h"
#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"
#include "recipe/tts_recipe.h"
#include "train/tts/model.h"

namespace tutti {

/// voice_mel_filters as a matrix: [n_fft / 2 + 1, n_mels] float64 on the CPU.
at::Tensor voice_filter_matrix(const VoiceMelOptions& options);

/// A voice's log-mel spectrograms as VoiceMel computes them, of many clips at once, on whatever device the tensors are.
/// Immutable; what it is called with and what it yields belong to the caller's stream.
class DeviceVoiceMel {
 public:
  DeviceVoiceMel(const VoiceMelOptions& options, at::Device device);

  /// [rows, frames, n_mels] float32; what is behind a row's own frames is of no use. `audio`: [rows, samples] float32;
  /// `lengths`: samples of each row, one at least. To 1e-4 what VoiceMel computes. Enqueues only.
  at::Tensor operator()(const at::Tensor& audio, const std::vector<std::int64_t>& lengths, std::int64_t frames) const;

 private:
  VoiceMelOptions options_;
  at::Tensor window_;   // [n_fft] float32
  at::Tensor filters_;  // [n_fft / 2 + 1, n_mels] float64: products in it are exact enough whatever TF32 is set to
};

/// Spectrograms of a batch's clips as they are learned from.
struct VoiceSpectrograms {
  at::Tensor mel{};                    // [rows, frames, n_mels] float32 on the data device, normalised; zeros behind
  std::vector<std::int64_t> frames{};  // of each row
};

/// How clips are changed before their spectrograms are computed, by a recipe; nothing by default.
Augmentation augmentation_of(const TtsRecipe& recipe, Hertz rate);

/// Computes spectrograms of a set's waveforms in the training, with the clips changed by speed, echoes and noise, on a
/// device beside the network's. Everything is drawn by seed, epoch and clip. Pitch is not computed: no network of a
/// voice takes it. Used by one thread.
class VoiceFeatures {
 public:
  /// `model`: whose scale the spectrograms have.
  VoiceFeatures(at::Device device, std::shared_ptr<const VoiceSet> set, std::shared_ptr<const VoiceWaveforms> waveforms,
                const TtsRecipe& recipe, const VoiceModel& model);

  /// The spectrograms of `clips`, `frames` long; 0: as long as the longest, rounded up to a multiple of `multiple`.
  /// Enqueues on the caller's streams. Throws what torch throws, and std::runtime_error for a damaged waveform.
  VoiceSpectrograms operator()(std::span<const std::int64_t> clips, std::int64_t epoch, std::int64_t frames,
                               std::int64_t multiple) const;

  /// What is drawn for a clip in an epoch. No clip is played so fast that it has more symbols than frames.
  AudioChanges changes_of(std::int64_t clip, std::int64_t epoch) const;

 private:
  at::Device device_;
  std::shared_ptr<const VoiceSet> set_;
  std::shared_ptr<const VoiceWaveforms> waveforms_;
  Augmentation augmentation_;
  std::uint64_t seed_;
  DeviceVoiceMel mel_;
  at::Tensor mean_;  // [n_mels] float32
  float deviation_;
};

}  // namespace tutti
