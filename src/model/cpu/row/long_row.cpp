#include "model/cpu/row/long_row.h"

#include <algorithm>
#include <limits>

#include "base/instruction_sets.h"
#include "model/cpu/row/long_row_kernel.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Columns that hold something: with more of them, strides through the row cost more than the whole of it does.
constexpr std::ptrdiff_t kManyColumns = kRowColumns / 8;

LongRowKernels best_kernels() {
  const auto& instructions = usable_instructions();
  if (instructions.has(Instructions::avx512)) return long_row_kernels_avx512();
  return instructions.has(Instructions::avx2) ? long_row_kernels_avx2() : long_row_kernels_plain();
}

const LongRowKernels& kernels() {
  static const LongRowKernels best = best_kernels();
  return best;
}

}  // namespace

LongRowKernels long_row_kernels_plain() {
  return {find_maxima, add_exponentials};
}

RowColumns column_maxima(std::span<const float> row) {
  RowColumns columns;
  kernels().find_maxima(row.data(), row.size(), columns.data());
  return columns;
}

float largest_of(const RowColumns& columns) {
  return std::ranges::max(columns);
}

std::vector<std::int32_t> positions_from(std::span<const float> row, const RowColumns& columns, float least) {
  std::vector<std::int32_t> places;
  const auto look_at = [&](std::size_t i) {
    if (row[i] > kNever && row[i] >= least) places.push_back(static_cast<std::int32_t>(i));
  };
  const auto holds_one = [&](float most) { return most >= least; };
  if (std::ranges::count_if(columns, holds_one) > kManyColumns) {
    for (std::size_t i = 0; i < row.size(); ++i) look_at(i);
    return places;
  }
  for (std::size_t c = 0; c < kRowColumns; ++c) {
    if (!holds_one(columns[c])) continue;
    for (std::size_t i = c; i < row.size(); i += kRowColumns) look_at(i);
  }
  return places;
}

double sum_of_exponentials(std::span<const float> row, float largest, float scale) {
  return kernels().add_exponentials(row.data(), row.size(), largest, scale);
}

}  // namespace tutti
