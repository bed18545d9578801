#include "audio/augment/augmentation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "audio/augment/effects.h"
#include "base/counter_random.h"

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

double mean_of(const float* mel, std::int64_t n_mels, std::int64_t stride, std::int64_t frames) {
  double sum = 0;
  for (std::int64_t bin = 0; bin < n_mels; ++bin)
    for (std::int64_t frame = 0; frame < frames; ++frame) sum += mel[bin * stride + frame];
  return sum / static_cast<double>(n_mels * frames);
}

}  // namespace

double speed_of(const Augmentation& augmentation, std::uint64_t key) {
  CounterRandom random = random_for(Draw::speed, key);
  return random.chance(augmentation.speed_share) ? drawn(augmentation.speed, random) : 1;
}

std::vector<std::int16_t> augmented(std::vector<std::int16_t> pcm, const Augmentation& augmentation, double speed,
                                    std::uint64_t key) {
  std::vector<float> sound(pcm.begin(), pcm.end());
  if (speed != 1) sound = at_speed(sound, speed);
  if (auto random = random_for(Draw::room, key); random.chance(augmentation.room_share)) {
    const double seconds = drawn(augmentation.room_seconds, random);
    add_room(sound, seconds, random);
  }
  if (auto random = random_for(Draw::noise, key); random.chance(augmentation.noise_share)) {
    const double decibels = drawn(augmentation.noise_db, random);
    add_noise_at(sound, decibels, random.chance(0.5), random.bits64());
  }
  if (auto random = random_for(Draw::gain, key); random.chance(augmentation.gain_share))
    change_gain(sound, drawn(augmentation.gain_db, random));
  pcm.resize(sound.size());
  for (std::size_t i = 0; i < sound.size(); ++i)
    pcm[i] = static_cast<std::int16_t>(std::lrint(std::clamp(sound[i], -32768.0F, 32767.0F)));
  return pcm;
}

void mask_spectrum(float* mel, std::int64_t n_mels, std::int64_t stride, std::int64_t frames, const SpecAugment& masks,
                   std::uint64_t key) {
  if ((masks.band_count == 0 && masks.stretch_count == 0) || frames == 0) return;
  const auto mean = static_cast<float>(mean_of(mel, n_mels, stride, frames));
  CounterRandom bands = random_for(Draw::bands, key), stretches = random_for(Draw::stretches, key);
  for (int i = 0; i < masks.band_count; ++i) {
    const std::int64_t width = bands.below(std::min<std::int64_t>(masks.band_width, n_mels) + 1);
    const std::int64_t first = bands.below(n_mels - width + 1);
    for (std::int64_t bin = first; bin < first + width; ++bin) std::fill_n(mel + bin * stride, frames, mean);
  }
  const auto most = static_cast<std::int64_t>(masks.stretch_share * static_cast<double>(frames));
  for (int i = 0; i < masks.stretch_count; ++i) {
    const std::int64_t width = stretches.below(std::min<std::int64_t>(masks.stretch_width, most) + 1);
    const std::int64_t first = stretches.below(frames - width + 1);
    for (std::int64_t bin = 0; bin < n_mels; ++bin) std::fill_n(mel + bin * stride + first, width, mean);
  }
}

}  // namespace tutti
