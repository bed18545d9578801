#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tutti {

/// How well each of `rows` goes with each of `columns`, rows first: seconds or words that a speaker of the truth and
/// one of a hypothesis have in common.
class ScoreTable {
 public:
  ScoreTable(std::size_t rows, std::size_t columns) : columns_(columns), scores_(rows * columns) {}

  /// 0 before it is set.
  double& at(std::size_t row, std::size_t column) { return scores_[row * columns_ + column]; }
  double at(std::size_t row, std::size_t column) const { return scores_[row * columns_ + column]; }
  std::size_t rows() const { return columns_ == 0 ? 0 : scores_.size() / columns_; }
  std::size_t columns() const { return columns_; }

 private:
  std::size_t columns_;
  std::vector<double> scores_;
};

/// The pairs of rows and columns, each in one pair at most, whose scores have the greatest sum: for every row its
/// column, none where there are fewer columns than rows and it is left over. Every score counts, those below 0 too.
///
/// Hungarian method, time rows * columns * the lesser of them; of several equal sums, always the same one.
std::vector<std::optional<std::size_t>> best_pairs(const ScoreTable& scores);

}  // namespace tutti
