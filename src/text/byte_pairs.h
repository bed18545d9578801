#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Token ids by their bytes; the views point into the table of tokens.
using TokenIds = std::unordered_map<std::string_view, std::int32_t>;

/// One line of a list of merges: two tokens, as bytes, that become one.
using Merge = std::pair<std::string, std::string>;

/// Which two neighbours may become one token, and which pair goes first. Immutable once built.
class BytePairs {
 public:
  /// Two tokens merge where their bytes together are a token, the lowest id first: what tiktoken does.
  static BytePairs by_rank(const TokenIds& ids);
  /// Exactly the pairs listed, in their order: what Hugging Face's tokenizers do.
  static Result<BytePairs> by_list(const std::vector<Merge>& merges, const TokenIds& ids);

  /// Merges `symbols` until no pair is left, always the first pair of lowest rank. O(n log n).
  void merge(std::vector<std::int32_t>& symbols) const;

 private:
  struct Slot {
    std::int32_t left = -1;
    std::int32_t right = -1;
    std::int32_t rank = -1;  // -1: free
    std::int32_t product = -1;
  };
  struct Candidate;
  class Chain;

  explicit BytePairs(std::size_t most_pairs);
  void insert(const Slot& pair);
  const Slot* find(std::int32_t left, std::int32_t right) const;
  std::size_t slot_of(std::int32_t left, std::int32_t right) const;

  std::vector<Slot> slots_;  // open addressing, a power of two
  int shift_ = 0;
};

}  // namespace tutti
