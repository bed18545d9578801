#include "audio/augment/augmentation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "audio/augment/effects.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

/// What each kind of change draws from, so that one does not move the others.
enum class Draw : std::uint64_t { speed, room, noise, gain, bands, stretches };

CounterRandom random_for(Draw draw, std::uint64_t key) {
  return CounterRandom({key, digest("augment"), static_cast<std::uint64_t>(draw)});
}

double drawn(const Between& range, CounterRandom& random) {
  return random.uniform(range.least, range.most);
}

}  // namespace

double speed_of(const Augmentation& augmentation, std::uint64_t key) {
  CounterRandom random = random_for(Draw::speed, key);
  return random.chance(augmentation.speed_share) ? drawn(augmentation.speed, random) : 1;
}

AudioChanges audio_changes(const Augmentation& augmentation, double speed, std::uint64_t key) {
  AudioChanges changes{.speed = speed};
  if (auto random = random_for(Draw::room, key); random.chance(augmentation.room_share)) {
    const double seconds = drawn(augmentation.room_seconds, random);
    changes.echoes = room_echoes(seconds, random);
  }
  if (auto random = random_for(Draw::noise, key); random.chance(augmentation.noise_share)) {
    const double decibels = drawn(augmentation.noise_db, random);
    const std::uint64_t noise_key = random.bits64();
    changes.noise = {.decibels = decibels, .is_pink = random.chance(0.5), .key = noise_key};
  }
  if (auto random = random_for(Draw::gain, key); random.chance(augmentation.gain_share))
    changes.gain_db = drawn(augmentation.gain_db, random);
  return changes;
}

std::vector<std::int16_t> changed(std::vector<std::int16_t> pcm, const AudioChanges& changes) {
  std::vector<float> audio(pcm.begin(), pcm.end());
  if (changes.speed != 1) audio = at_speed(audio, changes.speed);
  if (!changes.echoes.empty()) add_echoes(audio, changes.echoes);
  if (const auto& noise = changes.noise) add_noise_at(audio, noise->decibels, noise->is_pink, noise->key);
  if (changes.gain_db) change_gain(audio, *changes.gain_db);
  pcm.resize(audio.size());
  for (std::size_t i = 0; i < audio.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(std::lrint(std::clamp(audio[i], -32768.0F, 32767.0F)));
  return pcm;
}

SpectrumMasks spectrum_masks(const SpecAugment& augmentation, std::int64_t n_mels, std::int64_t frames,
                             std::uint64_t key) {
  SpectrumMasks masks;
  if (frames == 0) return masks;
  CounterRandom bands = random_for(Draw::bands, key), stretches = random_for(Draw::stretches, key);
  for (int i = 0; i < augmentation.band_count; ++i) {
    const std::int64_t width = bands.below(std::min<std::int64_t>(augmentation.band_width, n_mels) + 1);
    masks.bands.push_back({bands.below(n_mels - width + 1), width});
  }
  const auto most = static_cast<std::int64_t>(augmentation.stretch_share * static_cast<double>(frames));
  for (int i = 0; i < augmentation.stretch_count; ++i) {
    const std::int64_t width = stretches.below(std::min<std::int64_t>(augmentation.stretch_width, most) + 1);
    masks.stretches.push_back({stretches.below(frames - width + 1), width});
  }
  return masks;
}

void mask_spectrum(float* mel, std::int64_t n_mels, std::int64_t stride, std::int64_t frames,
                   const SpectrumMasks& masks) {
  if (masks.empty() || frames == 0) return;
  const float mean =
      spectrum_mean(n_mels, frames, [&](std::int64_t bin, std::int64_t frame) { return mel[bin * stride + frame]; });
  for (const MaskedSpan& band : masks.bands)
    for (std::int64_t bin = band.first; bin < band.first + band.count; ++bin)
      std::fill_n(mel + bin * stride, frames, mean);
  for (const MaskedSpan& stretch : masks.stretches)
    for (std::int64_t bin = 0; bin < n_mels; ++bin)
      std::fill_n(mel + bin * stride + stretch.first, stretch.count, mean);
}

}  // namespace tutti
