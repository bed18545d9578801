#include "decode/alignment/time_warp.h"

#include <limits>
#include <stdexcept>
#include <string>

namespace tutti {
namespace {

enum class Came : std::uint8_t { diagonally, from_row_above, from_column_before };

/// For every cell the direction its cheapest way comes from.
std::vector<Came> directions(std::span<const float> costs, std::size_t rows, std::size_t columns) {
  constexpr float kNoWay = std::numeric_limits<float>::infinity();
  std::vector<Came> came(rows * columns);
  // Cheapest sums of one row, one column to the right: [0] is before the matrix.
  std::vector<float> above(columns + 1, kNoWay);
  std::vector<float> here(columns + 1, kNoWay);
  above[0] = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    here[0] = kNoWay;
    for (std::size_t column = 0; column < columns; ++column) {
      const float diagonal = above[column];
      const float up = above[column + 1];
      const float before = here[column];
      const auto at = row * columns + column;
      float cheapest = before;
      came[at] = Came::from_column_before;
      if (diagonal < up && diagonal < before) {
        cheapest = diagonal;
        came[at] = Came::diagonally;
      } else if (up < diagonal && up < before) {
        cheapest = up;
        came[at] = Came::from_row_above;
      }
      here[column + 1] = costs[at] + cheapest;
    }
    above.swap(here);
  }
  return came;
}

}  // namespace

std::vector<std::int32_t> first_columns(std::span<const float> costs, std::size_t rows, std::size_t columns) {
  if (rows == 0 || columns == 0 || costs.size() != rows * columns) {
    throw std::invalid_argument("first_columns: a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) +
                                " with " + std::to_string(costs.size()) + " values");
  }
  const auto came = directions(costs, rows, columns);
  std::vector<std::int32_t> first(rows);
  std::size_t column = columns - 1;
  for (std::size_t row = rows; row-- > 0;) {
    // Along the row to where it is entered.
    while (column > 0 && came[row * columns + column] == Came::from_column_before) --column;
    first[row] = static_cast<std::int32_t>(column);
    if (row > 0 && column > 0 && came[row * columns + column] == Came::diagonally) --column;
  }
  return first;
}

}  // namespace tutti
