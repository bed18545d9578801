#include "feed/plan/choose.h"

#include <algorithm>
#include <numeric>

namespace tutti {
namespace {

/// So many samples of `longest` frames make a batch.
std::int64_t capacity_for(std::int32_t longest, const BatchRules& rules) {
  if (rules.most_frames == 0) return rules.most_samples;
  return std::clamp<std::int64_t>(rules.most_frames / std::max(longest, 1), 1, rules.most_samples);
}

std::vector<std::size_t> choose_in_order(std::span<const std::int32_t> frames, const BatchRules& rules) {
  std::vector<std::size_t> chosen;
  std::int32_t longest = 0;
  for (std::size_t at = 0; at < frames.size(); ++at) {
    longest = std::max(longest, frames[at]);
    if (static_cast<std::int64_t>(at) + 1 > capacity_for(longest, rules) && at > 0) break;
    chosen.push_back(at);
  }
  return chosen;
}

/// A run [first, last] of the samples by length.
struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
  double padding = 2;  // share of its frames
};

}  // namespace

std::vector<std::size_t> choose_batch(std::span<const std::int32_t> frames, const BatchRules& rules) {
  if (!rules.by_length) return choose_in_order(frames, rules);
  std::vector<std::size_t> sorted(frames.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(frames[a], a) < std::pair(frames[b], b); });
  std::vector<std::int64_t> sum(frames.size() + 1);
  for (std::size_t i = 0; i < sorted.size(); ++i) sum[i + 1] = sum[i] + frames[sorted[i]];

  const auto oldest = static_cast<std::size_t>(std::find(sorted.begin(), sorted.end(), 0) - sorted.begin());
  const auto longest_of = [&](std::size_t last) { return frames[sorted[last]]; };
  const auto first_with = [&](std::size_t last) {
    const auto space = static_cast<std::size_t>(capacity_for(longest_of(last), rules));
    return last + 1 >= space ? last + 1 - space : 0;
  };
  Run best;
  for (std::size_t last = oldest; last < sorted.size(); ++last) {
    const std::size_t first = first_with(last);
    if (first > oldest) break;  // longer batches are smaller still
    const bool is_full = first > 0 || last + 1 == sorted.size() || first_with(last + 1) > 0;
    if (!is_full) continue;
    const double whole = static_cast<double>(last + 1 - first) * std::max(longest_of(last), 1);
    const Run run{first, last, 1 - static_cast<double>(sum[last + 1] - sum[first]) / whole};
    if (run.padding < best.padding) best = run;
  }
  std::vector<std::size_t> chosen(sorted.begin() + static_cast<std::ptrdiff_t>(best.first),
                                  sorted.begin() + static_cast<std::ptrdiff_t>(best.last) + 1);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::size_t choose_replacement(std::span<const std::int32_t> frames, std::int32_t longest) {
  std::size_t best = 0;
  const auto fit = [&](std::int32_t length) {  // larger is better
    return length <= longest ? std::int64_t{length} : -std::int64_t{length};
  };
  for (std::size_t at = 1; at < frames.size(); ++at)
    if (fit(frames[at]) > fit(frames[best])) best = at;
  return best;
}

}  // namespace tutti
