#pragma once

#include <cstdint>

namespace tutti {

// How sixteen positions' keys lie: byte 64 * g + 4 * t + d is dimension 4 * g + d of position t. How four positions'
// values lie: byte 16 * (4 * i + k) + 4 * r + p is dimension 16 * k + 4 * i + r of position p. So 32 bits of a register
// hold four numbers that go into one sum, what VNNI adds up at once and AVX2 two by two, and its lanes are sums of
// their own: none is ever added up across a register.

/// One head of a window on the way to eight bits; `padded` is `positions` filled up to a multiple of 16.
struct ByteKvJob {
  const float* from = nullptr;  // row t begins at from + t * stride, 64 numbers
  std::int64_t stride = 0;
  std::int64_t positions = 0;
  std::int64_t padded = 0;
  float* scales = nullptr;  // [padded]; 0 behind the last position
  float* mean = nullptr;    // [64]
};

/// One head of some queries over one window. Pointers are of that head.
struct ByteAttentionJob {
  static constexpr std::int64_t kMostRows = 5;  // beams that people search, and samples that they draw, unless set

  const float* q = nullptr;  // row r begins at q + r * stride, 64 numbers
  const std::uint8_t* keys = nullptr;
  const float* key_scales = nullptr;
  const std::int8_t* values = nullptr;
  const float* value_scales = nullptr;
  const float* value_mean = nullptr;
  float* out = nullptr;   // laid out as q
  std::int64_t rows = 1;  // kMostRows at most
  std::int64_t stride = 0;
  std::int64_t positions = 0;
  std::int64_t padded = 0;

  /// Floats of scratch memory that a row takes.
  static std::int64_t scratch_size(std::int64_t padded) { return padded + padded / 2; }
};

struct ByteKvKernels {
  void (*pack_keys)(const ByteKvJob& job, std::uint8_t* to) = nullptr;
  void (*pack_values)(const ByteKvJob& job, std::int8_t* to) = nullptr;
  void (*attend)(const ByteAttentionJob& job, float* scratch) = nullptr;
};

ByteKvKernels byte_kv_kernels_avx2();
ByteKvKernels byte_kv_kernels_avxvnni();
ByteKvKernels byte_kv_kernels_vnni();

}  // namespace tutti
