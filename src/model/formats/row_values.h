#pragma once

#include <cstdint>
#include <span>

#include "model/formats/stored_tensor.h"

namespace tutti {

/// Whether load-time arithmetic turns this tensor into floats: ggml's blocks, and integers with a scale per row. All
/// others are floats as they lie, or no weights.
bool is_quantised(const StoredTensor& tensor);

/// The values of row `row` of a quantised tensor as float32; `out` is as long as a row (the product of shape[1] and
/// on). Thread-safe.
void read_row(const StoredTensor& tensor, std::int64_t row, std::span<float> out);

/// IEEE half precision to single; exact.
float float_of_half(std::uint16_t half);

}  // namespace tutti
