#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// Vectors of one length, one after the other.
struct Vectors {
  std::vector<float> values{};
  std::size_t dimensions = 0;

  std::size_t size() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const float> operator[](std::size_t i) const {
    return std::span(values).subspan(i * dimensions, dimensions);
  }
  void add(std::span<const float> one) {
    dimensions = one.size();
    values.insert(values.end(), one.begin(), one.end());
  }
};

/// Scales a vector to length 1; one of zeros stays.
void normalise(std::span<float> vector);
float dot(std::span<const float> a, std::span<const float> b);

/// One step of a hierarchical clustering: clusters `a` and `b`, by the number of one of their members, become one.
struct Merge {
  std::size_t a = 0;
  std::size_t b = 0;
  float distance = 0;
};

/// Average linkage over the cosine distances of vectors of length 1: all merges, the nearest first, n - 1 of them.
/// Deterministic. Takes 2 n^2 bytes.
std::vector<Merge> average_linkage(const Vectors& vectors);

/// The cluster of each of n items after the merges nearer than `threshold`, but at least as many as leave `most`
/// clusters, and at most as many as leave `least`. Numbered in the order of their first items.
struct Cut {
  float threshold = 0.6F;
  std::size_t least = 1;
  std::size_t most = static_cast<std::size_t>(-1);
};
std::vector<std::size_t> cut_tree(std::span<const Merge> merges, std::size_t n, const Cut& cut);

/// How any number of vectors of length 1 join by average linkage, computed once for all cuts: up to `block` at once; of
/// more, blocks of so many first, cut at the usual threshold, then the centroids of their clusters.
class ClusterTree {
 public:
  explicit ClusterTree(const Vectors& vectors, std::size_t block = 10000);

  /// The cluster of each vector.
  std::vector<std::size_t> cut(const Cut& cut) const;

 private:
  std::vector<std::size_t> leaves_;  // of each vector: what is merged
  std::size_t leaf_count_ = 0;
  std::vector<Merge> merges_;
};

}  // namespace tutti
