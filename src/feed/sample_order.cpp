#include "feed/sample_order.h"

#include <algorithm>

#include "audio/lanes.h"
#include "base/random/counter_random.h"
#include "feed/options.h"

namespace tutti {

Permutation::Permutation(std::int64_t size, std::uint64_t key) : size_(static_cast<std::uint64_t>(size)) {
  for (std::uint64_t round = 0; round < rounds_.size(); ++round) rounds_[round] = mixed({key, round});
  while ((std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

std::uint64_t Permutation::step(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (const std::uint64_t begun : rounds_) {
    // mixed({key, round, right}), of which all but the last is the same for every value.
    const std::uint64_t next = left ^ (finalised(begun + kSplitMixStep + finalised(right)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::at(std::int64_t index) const {
  auto value = static_cast<std::uint64_t>(index);
  do value = step(value);
  while (value >= size_);
  return static_cast<std::int64_t>(value);
}

namespace {

constexpr std::size_t kTogether = 64;
using Values = std::array<std::uint64_t, kTogether>;

/// Permutation::step of all of them, as vectors where the function is inlined into one that may use them.
TUTTI_INLINE void step_all(Values& values, std::span<const std::uint64_t, 6> rounds, int half_bits) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  Values left, right;
  for (std::size_t i = 0; i < kTogether; ++i) {
    left[i] = values[i] >> half_bits;
    right[i] = values[i] & mask;
  }
  for (const std::uint64_t begun : rounds)
    for (std::size_t i = 0; i < kTogether; ++i) {
      const std::uint64_t next = left[i] ^ (finalised(begun + kSplitMixStep + finalised(right[i])) & mask);
      left[i] = right[i];
      right[i] = next;
    }
  for (std::size_t i = 0; i < kTogether; ++i) values[i] = left[i] << half_bits | right[i];
}

[[TUTTI_AVX512]] void step_all_avx512(Values& values, std::span<const std::uint64_t, 6> rounds, int half_bits) {
  step_all(values, rounds, half_bits);
}

void step_all_baseline(Values& values, std::span<const std::uint64_t, 6> rounds, int half_bits) {
  step_all(values, rounds, half_bits);
}

}  // namespace

void Permutation::copy(std::int64_t first, std::span<std::int64_t> into) const {
  // Without a branch a value: most time would go into those that a processor guesses wrong.
  static const auto step_values = runs_avx512() ? step_all_avx512 : step_all_baseline;
  Values values{};
  std::array<std::size_t, kTogether> at{};  // where in `into` each of them goes
  std::size_t begun = 0, count = 0;
  while (begun < into.size() || count > 0) {
    for (; count < kTogether && begun < into.size(); ++count, ++begun) {
      values[count] = static_cast<std::uint64_t>(first) + begun;
      at[count] = begun;
    }
    step_values(values, rounds_, half_bits_);
    std::size_t outside = 0;
    for (std::size_t i = 0; i < count; ++i) {
      into[at[i]] = static_cast<std::int64_t>(values[i]);
      values[outside] = values[i];
      at[outside] = at[i];
      outside += values[i] >= size_ ? 1 : 0;
    }
    count = outside;
  }
}

SampleOrder::SampleOrder(const FeedOptions& options, std::int64_t size, std::int64_t epoch, std::int64_t cursor)
    : seed_(options.seed),
      shuffle_(options.shuffle),
      epochs_(options.epochs),
      rank_(options.rank),
      ranks_(options.ranks),
      size_(options.max_samples > 0 ? std::min(options.max_samples, size) : size),
      count_((size_ - rank_ + ranks_ - 1) / ranks_),
      epoch_(epoch),
      cursor_(cursor) {
  begin_epoch(epoch);
}

void SampleOrder::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  permutation_.reset();
  if (shuffle_) permutation_.emplace(size_, mixed({seed_, digest("order"), static_cast<std::uint64_t>(epoch)}));
}

std::optional<Probed> SampleOrder::next() {
  Probed probed;
  if (!has_begun_) {
    has_begun_ = true;
    probed.kind = Probed::Kind::begin;
    return probed;
  }
  if (epochs_ > 0 && epoch_ >= epochs_) return std::nullopt;
  probed.epoch = epoch_;
  if (cursor_ >= count_) {
    probed.kind = Probed::Kind::end_of_epoch;
    begin_epoch(epoch_ + 1);
    cursor_ = 0;
    return probed;
  }
  probed.cursor = cursor_++;
  const std::int64_t index = rank_ + ranks_ * probed.cursor;
  probed.index = permutation_ ? permutation_->at(index) : index;
  return probed;
}

}  // namespace tutti
