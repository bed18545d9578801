#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "feed/stages/row.h"

namespace tutti {

/// A random order of 0 ... size - 1 that is never stored: any index of it is computed, so going on at index 10^8 costs
/// what starting does. A Feistel network over the next even power of two, walked until the value is in range (less than
/// four steps on average). Immutable; thread-safe.
class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t key);

  /// What is at `index` of [0, size).
  std::int64_t at(std::int64_t index) const;
  /// What is at `first` and the indices behind it: many together are several times as fast.
  void copy(std::int64_t first, std::span<std::int64_t> into) const;

 private:
  std::uint64_t step(std::uint64_t value) const;

  std::uint64_t size_;
  std::array<std::uint64_t, 6> rounds_{};  // each round's own part of what it mixes
  int half_bits_ = 1;
};

struct FeedOptions;

/// The samples of a run, one after the other: epoch after epoch, each in an order of its own, this rank's share of it.
/// Begins anywhere at once. One thread.
class SampleOrder {
 public:
  /// `size`: lines of the set.
  SampleOrder(const FeedOptions& options, std::int64_t size, std::int64_t epoch, std::int64_t cursor);

  /// The next sample or mark; none after the last epoch.
  std::optional<Probed> next();
  /// Samples of an epoch.
  std::int64_t count() const { return count_; }
  /// Different ones over all epochs: ranks share every epoch again where it is shuffled.
  std::int64_t different() const { return shuffle_ ? size_ : count_; }

 private:
  void begin_epoch(std::int64_t epoch);

  std::uint64_t seed_;
  bool shuffle_;
  std::int64_t epochs_;
  std::int64_t rank_, ranks_;
  std::int64_t size_;
  std::int64_t count_;
  std::int64_t epoch_;
  std::int64_t cursor_;
  bool has_begun_ = false;
  std::optional<Permutation> permutation_{};
};

}  // namespace tutti
