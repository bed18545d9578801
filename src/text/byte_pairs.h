#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/token_table.h"

namespace tutti {

/// One line of a list of merges: two tokens, as bytes, that become one.
using Merge = std::pair<std::string, std::string>;

/// Which two neighbours may become one token, and which pair goes first. Immutable once built.
class BytePairs {
 public:
  /// Two tokens merge where their bytes together are a token, the lowest id first: what tiktoken does. `tokens` are the
  /// bytes by id that `ids` was filled from; empty ones are no tokens of text.
  static BytePairs by_rank(std::span<const std::string> tokens, const TokenTable& ids);
  /// Exactly the pairs listed, in their order: what Hugging Face's tokenizers do. `made` is set, by id, for every token
  /// that some pair becomes.
  static Result<BytePairs> by_list(const std::vector<Merge>& merges, const TokenTable& ids, std::vector<bool>& made);

  /// Merges `symbols` until no pair is left, always the first pair of lowest rank. O(n log n).
  void merge(std::vector<std::int32_t>& symbols) const;

  /// The merges, in their order, that make the same of any text: what `by_list` takes. `tokens` are the bytes by id,
  /// `byte_ids` the tokens of the 256 bytes. A token that no merging makes is in none.
  std::vector<std::pair<std::int32_t, std::int32_t>> list(std::span<const std::string> tokens,
                                                          std::span<const std::int32_t, 256> byte_ids) const;

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
