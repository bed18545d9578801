#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/cpu/row/long_row_job.h"

namespace tutti {

// Rows of logits are 50,000 numbers, read several times a step and a sequence: with the widest registers that the
// processor has.

/// Value i of a row is in column i % kRowColumns.
using RowColumns = std::array<float, kRowColumns>;

/// The largest value of each column; minus infinity of none. Values that are not a number are passed over.
RowColumns column_maxima(std::span<const float> row);

/// The largest value of all columns.
float largest_of(const RowColumns& columns);

/// Where values of at least `least` stand, minus infinity excepted, in no order that means anything: of a few columns
/// that hold one, only those are searched. columns: column_maxima(row).
std::vector<std::int32_t> positions_from(std::span<const float> row, const RowColumns& columns, float least);

/// Sum of exp((row - largest) * scale), exact to about 1e-7 relative; `largest` is at least every value of the row. NaN
/// where a value is.
double sum_of_exponentials(std::span<const float> row, float largest, float scale);

}  // namespace tutti
