#pragma once

#include <ATen/core/Tensor.h>

namespace tutti {

/// Whether `few_rows` can do x weight^T: on a CPU with AVX2 at least, float32 or bfloat16, contiguous, at most 16 rows,
/// their length a multiple of 16.
bool is_few_rows(const at::Tensor& x, const at::Tensor& weight);

/// x: [rows, in], weight: [out, in], both of one type -> x weight^T, [rows, out] float32.
at::Tensor few_rows(const at::Tensor& x, const at::Tensor& weight);

}  // namespace tutti
