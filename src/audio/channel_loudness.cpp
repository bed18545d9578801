#include "audio/channel_loudness.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tutti {
namespace {

/// Energy is that of a sample of all of them: looking at every one would cost as much as decoding plain samples.
constexpr int kStride = 7;
constexpr double kAudible = 1e-6;  // mean square of full scale: -60 dB
constexpr double kSilentMix =
    0.05;  // below this share of what unlike channels leave in the mix, or of the loudest channel
constexpr double kEnough = 0.05;  // share of the audible time that must be lost to the mix

template <class T>
double value_of(T sample) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<double>(sample);
  if constexpr (std::is_same_v<T, std::uint8_t>) return (static_cast<double>(sample) - 128) / 128;
  return static_cast<double>(sample) / (static_cast<double>(std::numeric_limits<T>::max()) + 1);
}

struct Sums {
  std::span<double> channels;
  std::span<const double> weights;
  double mix = 0;
  std::int64_t taken = 0;
};

template <class T>
void add_energy(const AudioBlock& block, bool planar, Sums& sums) {
  const std::size_t channels = sums.channels.size();
  const auto* const interleaved = reinterpret_cast<const T*>(block.planes[0]);
  for (int at = 0; at < block.frames; at += kStride) {
    double mixed = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const double value = value_of(planar ? reinterpret_cast<const T*>(block.planes[c])[at]
                                           : interleaved[static_cast<std::size_t>(at) * channels + c]);
      sums.channels[c] += value * value;
      mixed += value * sums.weights[c];
    }
    sums.mix += mixed * mixed;
    ++sums.taken;
  }
}

void add_energy(const AudioBlock& block, Sums& sums) {
  switch (block.format) {
    case AV_SAMPLE_FMT_U8: return add_energy<std::uint8_t>(block, false, sums);
    case AV_SAMPLE_FMT_U8P: return add_energy<std::uint8_t>(block, true, sums);
    case AV_SAMPLE_FMT_S16: return add_energy<std::int16_t>(block, false, sums);
    case AV_SAMPLE_FMT_S16P: return add_energy<std::int16_t>(block, true, sums);
    case AV_SAMPLE_FMT_S32: return add_energy<std::int32_t>(block, false, sums);
    case AV_SAMPLE_FMT_S32P: return add_energy<std::int32_t>(block, true, sums);
    case AV_SAMPLE_FMT_S64: return add_energy<std::int64_t>(block, false, sums);
    case AV_SAMPLE_FMT_S64P: return add_energy<std::int64_t>(block, true, sums);
    case AV_SAMPLE_FMT_FLT: return add_energy<float>(block, false, sums);
    case AV_SAMPLE_FMT_FLTP: return add_energy<float>(block, true, sums);
    case AV_SAMPLE_FMT_DBL: return add_energy<double>(block, false, sums);
    case AV_SAMPLE_FMT_DBLP: return add_energy<double>(block, true, sums);
    default: return;
  }
}

}  // namespace

void ChannelLoudness::add(const AudioBlock& block, std::span<const double> weights) {
  if (weights.size() < 2) return;
  if (!std::ranges::equal(weights, weights_) || block.rate.value != rate_) {
    close_second();
    weights_.assign(weights.begin(), weights.end());
    now_.assign(weights.size(), 0);
    rate_ = block.rate.value;
  }
  Sums sums{now_, weights_, 0, 0};
  add_energy(block, sums);
  mix_ += sums.mix;
  taken_ += sums.taken;
  frames_ += block.frames;
  if (frames_ >= rate_) close_second();
}

void ChannelLoudness::close_second() {
  if (taken_ > 0 && rate_ > 0) {
    const double length = static_cast<double>(frames_) / rate_;
    const auto looked_at = static_cast<double>(taken_);
    if (energy_.size() < now_.size()) {
      energy_.resize(now_.size());
      covered_.resize(now_.size());
    }
    const double loudest = std::ranges::max(now_);
    double apart = 0;
    for (std::size_t c = 0; c < now_.size(); ++c) {
      apart += weights_[c] * weights_[c] * now_[c];
      energy_[c] += now_[c] / looked_at * length;
      if (now_[c] >= kSilentMix * loudest && loudest / looked_at > kAudible) covered_[c] += length;
    }
    if (loudest / looked_at > kAudible) {
      audible_ += length;
      if (mix_ < kSilentMix * apart) cancelled_ += length;
    }
  }
  std::ranges::fill(now_, 0);
  mix_ = 0;
  taken_ = frames_ = 0;
}

std::optional<int> ChannelLoudness::better_than_mix() const {
  if (cancelled_ <= 0 || cancelled_ < kEnough * audible_) return {};
  std::size_t best = 0;
  for (std::size_t c = 1; c < energy_.size(); ++c)
    if (covered_[c] > covered_[best] || (covered_[c] == covered_[best] && energy_[c] > energy_[best])) best = c;
  if (covered_[best] <= audible_ - cancelled_) return {};
  return static_cast<int>(best) + 1;
}

}  // namespace tutti
