#include "diarize/assignment.h"

#include <limits>

namespace tutti {
namespace {

/// Hungarian method by shortest augmenting paths (Jonker and Volgenant 1987) over a table with no more rows than
/// columns. Index 0 of rows and columns means none.
class Assignment {
 public:
  explicit Assignment(const ScoreTable& scores)
      : scores_(scores),
        row_price_(scores.rows() + 1),
        column_price_(scores.columns() + 1),
        row_of_(scores.columns() + 1),
        before_(scores.columns() + 1) {
    for (std::size_t row = 1; row <= scores.rows(); ++row) assign(row);
  }

  /// The row of a column; none where it is left over.
  std::optional<std::size_t> row_of(std::size_t column) const {
    const std::size_t row = row_of_[column + 1];
    return row == 0 ? std::nullopt : std::optional(row - 1);
  }

 private:
  double reduced_cost(std::size_t row, std::size_t column) const {
    return -scores_.at(row - 1, column - 1) - row_price_[row] - column_price_[column];
  }

  /// Gives `row` a column, and moves others along the cheapest path.
  void assign(std::size_t row) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> least(row_of_.size(), kInfinity);
    std::vector<bool> used(row_of_.size());
    row_of_[0] = row;
    std::size_t at = 0;
    do {
      used[at] = true;
      double step = kInfinity;
      std::size_t next = 0;
      for (std::size_t column = 1; column < row_of_.size(); ++column) {
        if (used[column]) continue;
        if (const double cost = reduced_cost(row_of_[at], column); cost < least[column]) {
          least[column] = cost;
          before_[column] = at;
        }
        if (least[column] < step) {
          step = least[column];
          next = column;
        }
      }
      for (std::size_t column = 0; column < row_of_.size(); ++column) {
        if (used[column]) {
          row_price_[row_of_[column]] += step;
          column_price_[column] -= step;
        } else {
          least[column] -= step;
        }
      }
      at = next;
    } while (row_of_[at] != 0);
    for (; at != 0; at = before_[at]) row_of_[at] = row_of_[before_[at]];
  }

  const ScoreTable& scores_;
  std::vector<double> row_price_, column_price_;
  std::vector<std::size_t> row_of_, before_;
};

}  // namespace

std::vector<std::optional<std::size_t>> best_pairs(const ScoreTable& scores) {
  std::vector<std::optional<std::size_t>> column_of(scores.rows());
  if (scores.rows() <= scores.columns()) {
    const Assignment assignment(scores);
    for (std::size_t column = 0; column < scores.columns(); ++column)
      if (const auto row = assignment.row_of(column)) column_of[*row] = column;
    return column_of;
  }
  ScoreTable turned(scores.columns(), scores.rows());
  for (std::size_t row = 0; row < scores.rows(); ++row)
    for (std::size_t column = 0; column < scores.columns(); ++column) turned.at(column, row) = scores.at(row, column);
  const Assignment assignment(turned);
  for (std::size_t row = 0; row < scores.rows(); ++row) column_of[row] = assignment.row_of(row);
  return column_of;
}

}  // namespace tutti
