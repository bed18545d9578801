#include "decode/alignment/attention_map.h"

#include <algorithm>

#include "decode/alignment/median_filter.h"
#include "decode/alignment/time_warp.h"

namespace tutti {

AttentionMap::AttentionMap(std::size_t tokens, std::size_t positions)
    : tokens_(tokens), positions_(positions), sum_(tokens * positions) {}

void AttentionMap::add(std::span<const float> heads) {
  for (; !heads.empty(); heads = heads.subspan(sum_.size())) {
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto smooth = median_of_seven(heads.subspan(token * positions_, positions_));
      std::ranges::transform(smooth, std::span(sum_).subspan(token * positions_, positions_),
                             sum_.begin() + static_cast<std::ptrdiff_t>(token * positions_), std::plus{});
    }
    ++heads_;
  }
}

std::vector<std::int32_t> AttentionMap::starts() const {
  std::vector<float> costs(sum_.size());
  const auto count = static_cast<float>(heads_);
  std::ranges::transform(sum_, costs.begin(), [&](float sum) { return -(sum / count); });
  return first_columns(costs, tokens_, positions_);
}

}  // namespace tutti
