#include "diarize/clustering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

/// The distances of pairs, each once.
class PairDistances {
 public:
  explicit PairDistances(const Vectors& vectors) : n_(vectors.size()), values_(n_ * (n_ - 1) / 2) {
    for (std::size_t i = 1; i < n_; ++i)
      for (std::size_t j = 0; j < i; ++j) at(i, j) = 1 - dot(vectors[i], vectors[j]);
  }
  float& at(std::size_t i, std::size_t j) {
    return i > j ? values_[i * (i - 1) / 2 + j] : values_[j * (j - 1) / 2 + i];
  }
  std::size_t size() const { return n_; }

 private:
  std::size_t n_;
  std::vector<float> values_;
};

/// The nearest other live cluster; `before` where it is as near, so that a chain ends.
std::size_t nearest(PairDistances& distances, const std::vector<std::size_t>& live, std::size_t to,
                    std::size_t before) {
  std::size_t best = before;
  float least = before == to ? std::numeric_limits<float>::infinity() : distances.at(to, before);
  for (const std::size_t other : live) {
    if (other == to) continue;
    const float distance = distances.at(to, other);
    if (distance < least) {
      least = distance;
      best = other;
    }
  }
  return best;
}

/// The first of the set that `item` is in.
std::size_t root_of(std::vector<std::size_t>& parents, std::size_t item) {
  while (parents[item] != item) item = parents[item] = parents[parents[item]];
  return item;
}

}  // namespace

void normalise(std::span<float> vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  if (sum <= 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(sum));
  for (float& value : vector) value *= scale;
}

float dot(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kLanes = 8;
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (; i < a.size(); ++i) sum += a[i] * b[i];
  for (const float lane : sums) sum += lane;
  return sum;
}

/// By chains of nearest neighbours (Murtagh 1983): average linkage is reducible, so the merges are those of the greedy
/// way, in another order.
std::vector<Merge> average_linkage(const Vectors& vectors) {
  const std::size_t n = vectors.size();
  std::vector<Merge> merges;
  if (n < 2) return merges;
  PairDistances distances(vectors);
  std::vector<float> sizes(n, 1);
  std::vector<std::size_t> live(n), chain;
  std::iota(live.begin(), live.end(), std::size_t{0});
  while (live.size() > 1) {
    if (chain.empty()) chain.push_back(live.front());
    for (;;) {
      const std::size_t top = chain.back();
      const std::size_t before = chain.size() > 1 ? chain[chain.size() - 2] : top;
      const std::size_t next = nearest(distances, live, top, before);
      if (next == before) break;
      chain.push_back(next);
    }
    const std::size_t a = std::min(chain.back(), chain[chain.size() - 2]);
    const std::size_t b = std::max(chain.back(), chain[chain.size() - 2]);
    chain.resize(chain.size() - 2);
    merges.push_back({a, b, distances.at(a, b)});
    for (const std::size_t other : live)
      if (other != a && other != b)
        distances.at(a, other) =
            (sizes[a] * distances.at(a, other) + sizes[b] * distances.at(b, other)) / (sizes[a] + sizes[b]);
    sizes[a] += sizes[b];
    live.erase(std::ranges::lower_bound(live, b));
  }
  std::ranges::stable_sort(merges, {}, &Merge::distance);
  return merges;
}

std::vector<std::size_t> cut_tree(std::span<const Merge> merges, std::size_t n, const Cut& cut) {
  std::vector<std::size_t> parents(n);
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  std::size_t clusters = n;
  for (const Merge& merge : merges) {
    const bool is_near = merge.distance < cut.threshold && clusters > cut.least;
    if (!is_near && clusters <= cut.most) break;
    const std::size_t a = root_of(parents, merge.a), b = root_of(parents, merge.b);
    parents[std::max(a, b)] = std::min(a, b);
    --clusters;
  }
  std::vector<std::size_t> numbers(n), labels(n);
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t root = root_of(parents, i);
    if (root == i) numbers[i] = next++;
    labels[i] = numbers[root];
  }
  return labels;
}

ClusterTree::ClusterTree(const Vectors& vectors, std::size_t block)
    : leaves_(vectors.size()), leaf_count_(vectors.size()) {
  const std::size_t n = vectors.size();
  if (n <= block) {
    std::iota(leaves_.begin(), leaves_.end(), std::size_t{0});
    merges_ = average_linkage(vectors);
    return;
  }
  Vectors centroids{.dimensions = vectors.dimensions};
  for (std::size_t first = 0; first < n; first += block) {
    Vectors part;
    for (std::size_t i = first; i < std::min(n, first + block); ++i) part.add(vectors[i]);
    const auto of_part = cut_tree(average_linkage(part), part.size(), {});
    const std::size_t before = centroids.size();
    const std::size_t found = 1 + *std::ranges::max_element(of_part);
    centroids.values.resize((before + found) * vectors.dimensions, 0.0F);
    for (std::size_t i = 0; i < part.size(); ++i) {
      leaves_[first + i] = before + of_part[i];
      for (std::size_t d = 0; d < vectors.dimensions; ++d)
        centroids.values[leaves_[first + i] * vectors.dimensions + d] += part[i][d];
    }
  }
  for (std::size_t i = 0; i < centroids.size(); ++i)
    normalise(std::span(centroids.values).subspan(i * centroids.dimensions, centroids.dimensions));
  leaf_count_ = centroids.size();
  merges_ = average_linkage(centroids);
}

std::vector<std::size_t> ClusterTree::cut(const Cut& cut) const {
  const auto joined = cut_tree(merges_, leaf_count_, cut);
  std::vector<std::size_t> labels;
  labels.reserve(leaves_.size());
  for (const std::size_t leaf : leaves_) labels.push_back(joined[leaf]);
  return labels;
}

}  // namespace tutti
