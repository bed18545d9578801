#pragma once

#include <cstdint>

namespace tutti {

/// A random order of 0 ... size - 1 that is never stored: any index of it is computed, so going on at index 10^8 costs
/// what starting does. A Feistel network over the next even power of two, walked until the value is in range (less than
/// four steps on average). Immutable; thread-safe.
class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t key);

  /// What is at `index` of [0, size).
  std::int64_t at(std::int64_t index) const;

 private:
  std::uint64_t step(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t key_;
  int half_bits_ = 1;
};

}  // namespace tutti
