#pragma once

#include <cstdint>

namespace tutti {

/// y = x weight^T for a few rows on the CPU, in one pass over the weights: a decoder step's linear layers and logits
/// are bound by reading weights, and general matrix products lose up to half of that speed. A row's result does not
/// depend on how many rows there are. Sums are float32 for bfloat16 too.
template <class T>
struct FewRows {
  const float* x = nullptr;   // [rows, in]
  const T* weight = nullptr;  // [out, in]; uint16_t holds bfloat16
  float* y = nullptr;         // [rows, out]
  std::int64_t rows = 0;
  std::int64_t in = 0;  // a multiple of 16
  std::int64_t out = 0;
};

/// Outputs [first, last) of a job, with the instructions the file's name says.
void multiply_avx512(const FewRows<float>& job, std::int64_t first, std::int64_t last);
void multiply_avx512(const FewRows<std::uint16_t>& job, std::int64_t first, std::int64_t last);
void multiply_avx2(const FewRows<float>& job, std::int64_t first, std::int64_t last);
void multiply_avx2(const FewRows<std::uint16_t>& job, std::int64_t first, std::int64_t last);

}  // namespace tutti
