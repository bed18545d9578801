#pragma once

#include <cstdint>

namespace tutti {

// How four positions' values lie: byte 16 * (4 * i + k) + 4 * r + p is dimension 16 * k + 4 * i + r of position p. So a
// register's 32 bits hold four positions of one dimension, what VNNI adds up at once and AVX2 two by two, in the order
// that unpacking leaves them in.

/// One head of a window on the way to eight bits; `padded` is `positions` filled up to a multiple of 16.
struct ByteKvJob {
  const float* from = nullptr;  // row t begins at from + t * stride, 64 numbers
  std::int64_t stride = 0;
  std::int64_t positions = 0;
  std::int64_t padded = 0;
  float* scales = nullptr;  // [padded]; 0 behind the last position
  float* mean = nullptr;    // [64]
};

/// One head of one query over one window. Pointers are of that head.
struct ByteAttentionJob {
  const float* q = nullptr;  // [64]
  const std::uint8_t* keys = nullptr;
  const float* key_scales = nullptr;
  const std::int8_t* values = nullptr;
  const float* value_scales = nullptr;
  const float* value_mean = nullptr;
  float* out = nullptr;  // [64]
  std::int64_t positions = 0;
  std::int64_t padded = 0;

  /// Floats of scratch memory.
  static std::int64_t scratch_size(std::int64_t padded) { return padded + padded / 2; }
};

struct ByteKvKernels {
  void (*pack_keys)(const ByteKvJob& job, std::uint8_t* to) = nullptr;
  void (*pack_values)(const ByteKvJob& job, std::int8_t* to) = nullptr;
  void (*attend)(const ByteAttentionJob& job, float* scratch) = nullptr;
};

ByteKvKernels byte_kv_kernels_avx2();
ByteKvKernels byte_kv_kernels_dot512();

}  // namespace tutti
