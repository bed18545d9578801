#include "audio/augment/surrogate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "audio/mel/frame_fourier.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

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
