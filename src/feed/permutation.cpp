#include "feed/permutation.h"

#include "base/random/counter_random.h"

namespace tutti {

Permutation::Permutation(std::int64_t size, std::uint64_t key) : size_(static_cast<std::uint64_t>(size)), key_(key) {
  while ((std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

std::uint64_t Permutation::step(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::uint64_t next = left ^ (mixed({key_, round, right}) & mask);
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

}  // namespace tutti
