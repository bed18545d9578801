#include "audio/augment/effects.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "audio/mel/frame_fourier.h"
#include "audio/synth/disturbance.h"
#include "base/random/counter_random.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kRate = kModelRate.value;
constexpr float kFullScale = 32767;

double power_of(std::span<const float> audio) {
  double sum = 0;
  for (const float sample : audio) sum += double{sample} * sample;
  return audio.empty() ? 0 : sum / static_cast<double>(audio.size());
}

/// The value at a fractional position between two PCM samples.
float interpolated(std::span<const float> audio, double position, const std::vector<float>& all_taps) {
  const auto whole = static_cast<std::int64_t>(position);
  const std::int64_t phase = std::llround((position - static_cast<double>(whole)) * kSpeedPhases);
  const float* taps = all_taps.data() + phase * kSpeedTaps;
  const std::int64_t first = whole - kSpeedTaps / 2 + 1;
  const std::int64_t from = std::max<std::int64_t>(-first, 0);
  const std::int64_t to = std::min<std::int64_t>(std::ssize(audio) - first, kSpeedTaps);
  float sum = 0;
  for (std::int64_t tap = from; tap < to; ++tap) sum += taps[tap] * audio[static_cast<std::size_t>(first + tap)];
  return sum;
}

/// Paul Kellet's refined filter from white to pink noise, to within 0.05 dB above 9 Hz at 44.1 kHz; at 16 kHz the slope
/// holds as far as training cares.
void make_pink(std::span<float> noise) {
  double b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0;
  for (float& sample : noise) {
    const double white = sample;
    b0 = 0.99886 * b0 + white * 0.0555179;
    b1 = 0.99332 * b1 + white * 0.0750759;
    b2 = 0.96900 * b2 + white * 0.1538520;
    b3 = 0.86650 * b3 + white * 0.3104856;
    b4 = 0.55000 * b4 + white * 0.5329522;
    b5 = -0.7616 * b5 - white * 0.0168980;
    sample = static_cast<float>(b0 + b1 + b2 + b3 + b4 + b5 + b6 + white * 0.5362);
    b6 = white * 0.115926;
  }
}

constexpr std::int64_t kLeastBlock = 16, kBlocks = 4;
constexpr int kIterations = 20;
constexpr std::size_t kColumns = FrameFourier::kFrames;

/// Up to sixteen blocks of one size, side by side as FrameFourier takes them.
class BlockSurrogates {
 public:
  explicit BlockSurrogates(std::size_t size)
      : size_(size),
        fourier_(static_cast<int>(size)),
        samples_(size * kColumns),
        re_(static_cast<std::size_t>(fourier_.bins()) * kColumns),
        im_(re_.size()),
        magnitudes_(re_.size()),
        order_(size) {}

  /// Takes blocks of `size` samples, and makes surrogates of them.
  void run(std::span<const std::span<const float>> blocks, CounterRandom& random) {
    std::ranges::fill(samples_, 0.0F);
    sorted_.clear();
    for (std::size_t column = 0; column < blocks.size(); ++column) {
      put(column, blocks[column]);
      sorted_.emplace_back(blocks[column].begin(), blocks[column].end());
    }
    fourier_.forward(samples_.data(), re_.data(), im_.data());
    for (std::size_t i = 0; i < re_.size(); ++i) magnitudes_[i] = std::hypot(re_[i], im_[i]);
    for (std::size_t column = 0; column < sorted_.size(); ++column) {
      auto& values = sorted_[column];
      for (std::size_t i = size_ - 1; i > 0; --i)
        std::swap(values[i], values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
      put(column, values);
      std::ranges::sort(values);
    }
    for (int i = 0; i < kIterations; ++i) iterate();
  }

  float at(std::size_t column, std::size_t sample) const { return samples_[sample * kColumns + column]; }

 private:
  void put(std::size_t column, std::span<const float> values) {
    for (std::size_t i = 0; i < size_; ++i) samples_[i * kColumns + column] = values[i];
  }

  /// The audio's magnitudes with the phases that there are, then its values in the order that comes of it.
  void iterate() {
    fourier_.forward(samples_.data(), re_.data(), im_.data());
    for (std::size_t i = 0; i < re_.size(); ++i) {
      const float length = std::hypot(re_[i], im_[i]);
      const float scale = length > 0 ? magnitudes_[i] / length : 0;
      re_[i] *= scale;
      im_[i] *= scale;
    }
    fourier_.inverse(re_.data(), im_.data(), samples_.data());
    for (std::size_t column = 0; column < sorted_.size(); ++column) {
      std::iota(order_.begin(), order_.end(), 0U);
      std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return at(column, i); });
      for (std::size_t rank = 0; rank < size_; ++rank)
        samples_[order_[rank] * kColumns + column] = sorted_[column][rank];
    }
  }

  std::size_t size_;
  FrameFourier fourier_;
  std::vector<float> samples_;                // [size, kColumns]
  std::vector<float> re_, im_, magnitudes_;   // [bins, kColumns]
  std::vector<std::uint32_t> order_;          // [size]
  std::vector<std::vector<float>> sorted_{};  // values of each block
};

}  // namespace

std::vector<float> speed_taps(double speed) {
  const double band = std::min(1.0, 1 / speed);
  constexpr int kFirst = 1 - kSpeedTaps / 2;
  std::vector<float> taps;
  taps.reserve(std::size_t{kSpeedTaps} * (kSpeedPhases + 1));
  for (int phase = 0; phase <= kSpeedPhases; ++phase)
    for (int position = kFirst; position < kFirst + kSpeedTaps; ++position) {
      const double x = position - static_cast<double>(phase) / kSpeedPhases;
      const double hann = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * x / kSpeedTaps);
      const double turn = std::numbers::pi * band * x;
      const double sinc = std::abs(x) < 1e-9 ? 1 : std::sin(turn) / turn;
      taps.push_back(static_cast<float>(band * sinc * hann));
    }
  return taps;
}

std::vector<float> at_speed(std::span<const float> audio, double speed) {
  const auto taps = speed_taps(speed);
  std::vector<float> made(static_cast<std::size_t>(samples_at_speed(std::ssize(audio), speed)));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = interpolated(audio, static_cast<double>(i) * speed, taps);
  return made;
}

std::vector<Echo> room_echoes(double seconds, CounterRandom& random) {
  constexpr int kEchoes = 24;
  std::vector<Echo> echoes;
  for (int i = 0; i < kEchoes; ++i) {
    const double delay = random.uniform(0.003, seconds);
    const double gain = 0.5 * std::pow(10, -3 * delay / seconds) * (random.chance(0.5) ? 1 : -1);
    echoes.push_back({static_cast<std::int64_t>(delay * kRate), static_cast<float>(gain)});
  }
  return echoes;
}

void add_echoes(std::span<float> audio, std::span<const Echo> echoes) {
  const std::vector<float> direct(audio.begin(), audio.end());
  const double before = power_of(audio);
  for (const Echo& echo : echoes) {
    const auto late = static_cast<std::size_t>(echo.delay);
    for (std::size_t at = late; at < audio.size(); ++at) audio[at] += echo.gain * direct[at - late];
  }
  const double after = power_of(audio);
  const auto scale = static_cast<float>(after > 0 ? std::sqrt(before / after) : 1);
  for (float& sample : audio) sample *= scale;
}

void add_noise_at(std::span<float> audio, double decibels, bool is_pink, std::uint64_t key) {
  std::vector<float> noise(audio.size());
  add_noise(noise, 1, key);
  if (is_pink) make_pink(noise);
  const double wanted = power_of(audio) / std::pow(10, decibels / 10), has = power_of(noise);
  const auto scale = static_cast<float>(has > 0 ? std::sqrt(wanted / has) : 0);
  for (std::size_t i = 0; i < audio.size(); ++i) audio[i] += scale * noise[i];
}

void change_gain(std::span<float> audio, double decibels) {
  float peak = 0;
  for (const float sample : audio) peak = std::max(peak, std::abs(sample));
  auto gain = static_cast<float>(std::pow(10, decibels / 20));
  if (peak > 0 && gain > 1) gain = std::clamp(kFullScale / peak, 1.0F, gain);
  for (float& sample : audio) sample *= gain;
}

std::vector<float> iaaft_surrogate(std::span<const float> audio, std::uint64_t key) {
  std::vector<float> surrogate(audio.begin(), audio.end());
  if (std::ssize(audio) < kBlocks * kLeastBlock) return surrogate;
  const auto size = std::bit_floor(audio.size() / static_cast<std::size_t>(kBlocks));
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at + size <= audio.size(); at += size) starts.push_back(at);
  const auto rest = audio.size() % size;
  if (rest > 0) starts.push_back(audio.size() - size);  // of this one only the end is used
  std::vector<std::span<const float>> blocks;
  for (const auto start : starts) blocks.push_back(audio.subspan(start, size));
  CounterRandom random(key);
  BlockSurrogates made(size);
  made.run(blocks, random);
  for (std::size_t block = 0; block < starts.size(); ++block) {
    const bool is_end = rest > 0 && block + 1 == starts.size();
    for (std::size_t i = is_end ? size - rest : 0; i < size; ++i) surrogate[starts[block] + i] = made.at(block, i);
  }
  return surrogate;
}

}  // namespace tutti
