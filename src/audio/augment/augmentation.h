#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audio/augment/effects.h"

namespace tutti {

/// From the least to the most, inclusive; drawn evenly.
struct Between {
  double least = 0;
  double most = 0;
};

/// SpecAugment (Park et al. 2019) on log-mel: bands of bins and stretches of frames set to the sample's own mean.
struct SpecAugment {
  int band_count = 0;          ///< 0: none
  int band_width = 27;         ///< most bins of one band; each drawn from 0 to it
  int stretch_count = 0;       ///< 0: none
  int stretch_width = 100;     ///< most frames of one stretch
  double stretch_share = 0.2;  ///< no stretch is longer than this share of the sample's real frames
};

/// What is done to training audio, each part with a probability of its own. Everything is drawn from (seed, epoch,
/// sample id), so it is the same whatever thread does it, and differs from epoch to epoch. The default is nothing.
struct Augmentation {
  double speed_share = 0;  ///< share of samples played faster or slower; pitch changes with it, times too
  Between speed{0.9, 1.1};
  double gain_share = 0;
  Between gain_db{-12, 6};  ///< held below clipping
  double noise_share = 0;   ///< white or pink noise, at a ratio to the signal's power
  Between noise_db{5, 40};
  double room_share = 0;            ///< a simple room: exponentially decaying echoes after the direct sound
  Between room_seconds{0.05, 0.3};  ///< reverberation time, to -60 dB
  SpecAugment spectrum{};

  /// Whether samples are changed before their features are computed.
  bool touches_audio() const { return speed_share > 0 || gain_share > 0 || noise_share > 0 || room_share > 0; }
};

/// How much faster a sample is played; 1 where it is not chosen for that. `key` identifies (seed, epoch, sample id) in
/// all functions.
double speed_of(const Augmentation& augmentation, std::uint64_t key);

/// White or pink noise, `decibels` below the audio's power.
struct AddedNoise {
  double decibels = 0;
  bool is_pink = false;
  std::uint64_t key = 0;  ///< what the noise itself is drawn from
};

/// What was drawn for one sample, in the order in which it is done. Plain data; the default changes nothing.
struct AudioChanges {
  double speed = 1;
  std::vector<Echo> echoes{};  ///< none: no room response
  std::optional<AddedNoise> noise{};
  std::optional<double> gain_db{};
};

/// All that is drawn for a sample's audio but its speed, which is given.
AudioChanges audio_changes(const Augmentation& augmentation, double speed, std::uint64_t key);

/// The audio with its changes made. 16 kHz, mono.
std::vector<std::int16_t> changed(std::vector<std::int16_t> pcm, const AudioChanges& changes);

/// Bins or frames in a row.
struct MaskedSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// What SpecAugment blanks of one sample: whole bands of its real frames, and whole frames.
struct SpectrumMasks {
  std::vector<MaskedSpan> bands{};
  std::vector<MaskedSpan> stretches{};

  bool empty() const { return bands.empty() && stretches.empty(); }
};

/// Drawn for a sample of so many real frames.
SpectrumMasks spectrum_masks(const SpecAugment& augmentation, std::int64_t n_mels, std::int64_t frames,
                             std::uint64_t key);

/// What is blanked becomes this: the mean of a sample's first `frames` frames, of which there is one at least.
template <class Value>
float spectrum_mean(std::int64_t n_mels, std::int64_t frames, Value&& value) {
  double sum = 0;
  for (std::int64_t bin = 0; bin < n_mels; ++bin)
    for (std::int64_t frame = 0; frame < frames; ++frame) sum += value(bin, frame);
  return static_cast<float>(sum / static_cast<double>(n_mels * frames));
}

/// Blanks them in a sample's first `frames` frames; bin b of frame f is mel[b * stride + f].
void mask_spectrum(float* mel, std::int64_t n_mels, std::int64_t stride, std::int64_t frames,
                   const SpectrumMasks& masks);

}  // namespace tutti
