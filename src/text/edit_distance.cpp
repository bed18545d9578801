#include "text/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace tutti {
namespace {

using Bits = std::uint64_t;
using Symbols = std::span<const std::int32_t>;

constexpr std::size_t kBits = 64;

/// Where each symbol stands in the reference, as bits.
class Places {
 public:
  explicit Places(Symbols reference) : words_((reference.size() + kBits - 1) / kBits), scratch_(words_) {
    for (std::size_t i = 0; i < reference.size(); ++i) places_[reference[i]].push_back(i);
    for (const auto& [symbol, places] : places_)
      if (places.size() >= words_) set(masks_[symbol] = std::vector<Bits>(words_), places);
  }

  std::size_t words() const { return words_; }

  /// Good until the next call.
  const Bits* of(std::int32_t symbol) {
    if (const auto frequent = masks_.find(symbol); frequent != masks_.end()) return frequent->second.data();
    for (const std::size_t place : shown_) scratch_[place / kBits] = 0;
    shown_ = {};
    if (const auto found = places_.find(symbol); found != places_.end()) set(scratch_, shown_ = found->second);
    return scratch_.data();
  }

 private:
  static void set(std::vector<Bits>& mask, std::span<const std::size_t> places) {
    for (const std::size_t place : places) mask[place / kBits] |= Bits{1} << place % kBits;
  }

  std::size_t words_;
  std::unordered_map<std::int32_t, std::vector<std::size_t>> places_;
  // Only for the at most 64 symbols that would be dearer to set bit by bit: memory stays linear.
  std::unordered_map<std::int32_t, std::vector<Bits>> masks_;
  std::vector<Bits> scratch_;
  std::span<const std::size_t> shown_;  // what is set in scratch_
};

/// One row of the table of distances, as differences between neighbours: bit i of `plus` (`minus`) says that the
/// distance at reference symbol i is one more (less) than at i - 1.
struct Row {
  std::vector<Bits> plus, minus;

  explicit Row(std::size_t words) : plus(words, ~Bits{0}), minus(words) {}
  static bool test(const std::vector<Bits>& bits, std::size_t at) { return bits[at / kBits] >> at % kBits & 1; }
};

/// Goes from one row to the next, for a hypothesis symbol that stands at `matches`. Returns the change of the distance
/// at reference symbol `last`.
int advance(Row& row, const Bits* matches, std::size_t last) {
  Bits plus_in = 1, minus_in = 0;
  int change = 0;
  for (std::size_t w = 0; w < row.plus.size(); ++w) {
    const Bits plus = row.plus[w], minus = row.minus[w];
    const Bits x = matches[w] | minus_in;
    const Bits diagonal = (((x & plus) + plus) ^ plus) | x | minus;
    Bits right_plus = minus | ~(diagonal | plus);
    Bits right_minus = diagonal & plus;
    if (w == last / kBits)
      change = static_cast<int>(right_plus >> last % kBits & 1) - static_cast<int>(right_minus >> last % kBits & 1);
    const Bits plus_out = right_plus >> (kBits - 1), minus_out = right_minus >> (kBits - 1);
    right_plus = right_plus << 1 | plus_in;
    right_minus = right_minus << 1 | minus_in;
    row.plus[w] = right_minus | ~(diagonal | right_plus);
    row.minus[w] = right_plus & diagonal;
    plus_in = plus_out;
    minus_in = minus_out;
  }
  return change;
}

/// Takes equal symbols off both ends; returns how many.
std::int64_t trim(Symbols& a, Symbols& b) {
  const std::size_t before = a.size();
  const auto front = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  a = a.subspan(front);
  b = b.subspan(front);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
  return static_cast<std::int64_t>(before - a.size());
}

/// Finds the way back through the table without holding it: some rows are kept, and those between two of them made
/// anew when the way gets there.
class WayBack {
 public:
  WayBack(Symbols reference, Symbols hypothesis)
      : reference_(reference),
        hypothesis_(hypothesis),
        places_(reference),
        stride_(std::max(kBits, static_cast<std::size_t>(std::sqrt(hypothesis.size())) + 1)),
        i_(reference.size()),
        j_(hypothesis.size()) {}

  EditCounts counts() {
    keep_some_rows();
    while (i_ > 0 && j_ > 0) {
      const std::size_t first = (j_ - 1) / stride_ * stride_;
      walk(rows_between(kept_[first / stride_], first, j_), first);
    }
    counts_.deletions += static_cast<std::int64_t>(i_);
    counts_.insertions += static_cast<std::int64_t>(j_);
    return counts_;
  }

 private:
  void keep_some_rows() {
    Row row(places_.words());
    for (std::size_t j = 0; j < hypothesis_.size(); ++j) {
      if (j % stride_ == 0) kept_.push_back(row);
      if (j / stride_ == (hypothesis_.size() - 1) / stride_) return;  // the rest is made once only
      advance(row, places_.of(hypothesis_[j]), 0);
    }
  }

  /// Rows `first` to `last`, both included.
  std::vector<Row> rows_between(const Row& at_first, std::size_t first, std::size_t last) {
    std::vector<Row> rows = {at_first};
    rows.reserve(last - first + 1);
    for (std::size_t j = first; j < last; ++j) {
      rows.push_back(rows.back());
      advance(rows.back(), places_.of(hypothesis_[j]), 0);
    }
    return rows;
  }

  /// Back to row `first`, or to the start of the reference.
  void walk(const std::vector<Row>& rows, std::size_t first) {
    while (i_ > 0 && j_ > first) {
      if (Row::test(rows[j_ - first].plus, i_ - 1)) {
        ++counts_.deletions;
        --i_;
      } else if (--j_; j_ > 0 && Row::test(rows[j_ - first].minus, i_ - 1)) {
        ++counts_.insertions;
      } else {
        --i_;
        ++(reference_[i_] == hypothesis_[j_] ? counts_.hits : counts_.substitutions);
      }
    }
  }

  Symbols reference_, hypothesis_;
  Places places_;
  std::size_t stride_;
  std::size_t i_, j_;
  std::vector<Row> kept_;  // rows 0, stride, 2 * stride, ...
  EditCounts counts_;
};

}  // namespace

std::int64_t edit_distance(Symbols reference, Symbols hypothesis) {
  trim(reference, hypothesis);
  auto distance = static_cast<std::int64_t>(reference.size());
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  Places places(reference);
  Row row(places.words());
  for (const std::int32_t symbol : hypothesis) distance += advance(row, places.of(symbol), reference.size() - 1);
  return distance;
}

EditCounts edit_counts(Symbols reference, Symbols hypothesis) {
  const std::int64_t equal = trim(reference, hypothesis);
  EditCounts counts = WayBack(reference, hypothesis).counts();
  counts.hits += equal;
  return counts;
}

}  // namespace tutti
