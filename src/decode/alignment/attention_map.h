#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Where each token of a text looks in its window, gathered over heads.
class AttentionMap {
 public:
  AttentionMap(std::size_t tokens, std::size_t positions);

  /// Attention of one or more heads, normalised: [heads, tokens, positions] row-major. Smoothed over positions.
  void add(std::span<const float> heads);

  /// The position at which each token begins: the cheapest monotone way through the heads' mean, high attention being
  /// cheap. At least one head was added.
  std::vector<std::int32_t> starts() const;

 private:
  std::size_t tokens_;
  std::size_t positions_;
  std::size_t heads_ = 0;
  std::vector<float> sum_;
};

}  // namespace tutti
