#include "text/byte_pairs.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace tutti {
namespace {

constexpr std::int32_t kEveryRank = std::numeric_limits<std::int32_t>::max();

}  // namespace

/// A pair that could be merged when it was found; void once either side has changed.
struct BytePairs::Candidate {
  std::int32_t rank = 0;
  std::int32_t at = 0;
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::int32_t product = 0;

  /// For a heap whose top is the lowest rank, then the leftmost position.
  bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
};

/// Symbols as a doubly linked list over their first positions.
class BytePairs::Chain {
 public:
  /// Only pairs of a rank below `limit` are merged.
  Chain(const BytePairs& pairs, std::vector<std::int32_t>& symbols, std::int32_t limit)
      : pairs_(pairs), symbols_(symbols), limit_(limit) {
    const auto count = static_cast<std::int32_t>(symbols.size());
    next_.resize(symbols.size());
    previous_.resize(symbols.size());
    for (std::int32_t i = 0; i < count; ++i) {
      next_[at(i)] = i + 1 < count ? i + 1 : -1;
      previous_[at(i)] = i - 1;
    }
    for (std::int32_t i = 0; i + 1 < count; ++i) propose(i);
  }

  void merge_all() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Candidate best = heap_.back();
      heap_.pop_back();
      if (still_there(best)) apply(best);
    }
    std::erase(symbols_, kGone);
  }

 private:
  static constexpr std::int32_t kGone = -1;
  static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }

  void propose(std::int32_t place) {
    const std::int32_t after = next_[at(place)];
    if (after < 0) return;
    const Slot* pair = pairs_.find(symbols_[at(place)], symbols_[at(after)]);
    if (!pair || pair->rank >= limit_) return;
    heap_.push_back({pair->rank, place, pair->left, pair->right, pair->product});
    std::push_heap(heap_.begin(), heap_.end());
  }

  bool still_there(const Candidate& pair) const {
    if (symbols_[at(pair.at)] != pair.left) return false;
    const std::int32_t after = next_[at(pair.at)];
    return after >= 0 && symbols_[at(after)] == pair.right;
  }

  void apply(const Candidate& pair) {
    const std::int32_t gone = next_[at(pair.at)];
    const std::int32_t after = next_[at(gone)];
    symbols_[at(pair.at)] = pair.product;
    symbols_[at(gone)] = kGone;
    next_[at(pair.at)] = after;
    if (after >= 0) previous_[at(after)] = pair.at;
    if (previous_[at(pair.at)] >= 0) propose(previous_[at(pair.at)]);
    propose(pair.at);
  }

  const BytePairs& pairs_;
  std::vector<std::int32_t>& symbols_;
  std::int32_t limit_;
  std::vector<std::int32_t> next_;
  std::vector<std::int32_t> previous_;
  std::vector<Candidate> heap_;
};

BytePairs::BytePairs(std::size_t most_pairs) : slots_(std::bit_ceil(std::max<std::size_t>(16, 2 * most_pairs))) {
  shift_ = 64 - std::countr_zero(slots_.size());
}

std::size_t BytePairs::slot_of(std::int32_t left, std::int32_t right) const {
  const auto key = (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);  // Fibonacci hashing
}

void BytePairs::insert(const Slot& pair) {
  std::size_t at = slot_of(pair.left, pair.right);
  while (slots_[at].rank >= 0) {
    if (slots_[at].left == pair.left && slots_[at].right == pair.right) return;  // listed twice: the first counts
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = pair;
}

const BytePairs::Slot* BytePairs::find(std::int32_t left, std::int32_t right) const {
  for (std::size_t at = slot_of(left, right); slots_[at].rank >= 0; at = (at + 1) & (slots_.size() - 1))
    if (slots_[at].left == left && slots_[at].right == right) return &slots_[at];
  return nullptr;
}

BytePairs BytePairs::by_rank(std::span<const std::string> tokens, const TokenTable& ids) {
  std::vector<Slot> found;
  found.reserve(4 * tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view bytes = tokens[id];
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      const std::int32_t left = ids.find(bytes.substr(0, cut));
      if (left == TokenTable::kNone) continue;
      const std::int32_t right = ids.find(bytes.substr(cut)), product = static_cast<std::int32_t>(id);
      if (right != TokenTable::kNone) found.push_back({left, right, product, product});
    }
  }
  BytePairs pairs(found.size());
  for (const Slot& slot : found) pairs.insert(slot);
  return pairs;
}

Result<BytePairs> BytePairs::by_list(const std::vector<Merge>& merges, const TokenTable& ids, std::vector<bool>& made) {
  BytePairs pairs(merges.size());
  std::string together;
  std::int32_t last = TokenTable::kNone;  // product: a vocabulary lists them in the order of the merges
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    together.assign(left).append(right);
    last = ids.find(together, last + 1);
    const Slot pair = {ids.find(left), ids.find(right), static_cast<std::int32_t>(rank), last};
    if (pair.left == TokenTable::kNone || pair.right == TokenTable::kNone || pair.product == TokenTable::kNone)
      return fail(Fault::corrupt, "merge " + std::to_string(rank) + " ('" + left + "' and '" + right +
                                      "') names tokens that are not in the vocabulary");
    made[static_cast<std::size_t>(pair.product)] = true;
    pairs.insert(pair);
  }
  return pairs;
}

void BytePairs::merge(std::vector<std::int32_t>& symbols) const {
  if (symbols.size() > 1) Chain(*this, symbols, kEveryRank).merge_all();
}

std::vector<std::pair<std::int32_t, std::int32_t>> BytePairs::list(std::span<const std::string> tokens,
                                                                   std::span<const std::int32_t, 256> byte_ids) const {
  std::vector<Slot> order;
  std::ranges::copy_if(slots_, std::back_inserter(order), [](const Slot& slot) { return slot.rank >= 0; });
  std::ranges::sort(order, {}, [](const Slot& slot) { return slot.rank; });
  std::vector<std::pair<std::int32_t, std::int32_t>> merges;
  std::vector<std::int32_t> symbols;
  for (auto slot = order.begin(); slot != order.end(); ++slot) {
    if (slot != order.begin() && std::prev(slot)->rank == slot->rank) continue;
    // By rank, several pairs may make one token. The one that comes to be is what the merges before leave of its bytes.
    symbols.clear();
    for (const char byte : tokens[static_cast<std::size_t>(slot->product)])
      symbols.push_back(byte_ids[static_cast<unsigned char>(byte)]);
    Chain(*this, symbols, slot->rank).merge_all();
    if (symbols.size() == 2) merges.emplace_back(symbols[0], symbols[1]);
  }
  return merges;
}

}  // namespace tutti
