#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/cpu/matrix/packed_matrix.h"

namespace tutti {

/// Rows of float32 somewhere in memory.
struct Rows {
  const float* data = nullptr;
  std::int64_t stride = 0;  // floats; less than `in` where rows overlap, as those of a convolution do
  std::int64_t count = 0;
};

/// What is done to rows before a product: layer normalisation, or nothing.
struct Before {
  const float* norm_weight = nullptr;
  const float* norm_bias = nullptr;
};

/// What is done with a product behind the bias.
struct After {
  bool gelu = false;
  const float* addend = nullptr;  // [rows, out], its rows `stride` apart; may be y
  std::int64_t stride = 0;
};

struct Output {
  float* data = nullptr;
  std::int64_t stride = 0;
};

/// y = after(before(x) weight^T + bias), on torch's threads. A row's result depends on nothing but the row: not on how
/// many there are, nor on the number of threads (bfloat16 with AMX and float32 included).
void product(const Rows& x, const Before& before, const PackedMatrix& weight, const After& after, const Output& y);

/// x += second(gelu(first(before(x)))): both layers for one block of rows at a time, so that what is between them stays
/// in the cache.
void add_two_layers(float* x, std::int64_t rows, const Before& before, const PackedMatrix& first,
                    const PackedMatrix& second);

}  // namespace tutti
