#pragma once

#include <cuda_fp16.h>

#include "model/decoder_step/numbers.h"

namespace tutti {

TUTTI_BOTH inline float widened(Half value) {
  __half_raw raw;
  raw.x = value.bits;
  return __half2float(__half(raw));
}

template <>
TUTTI_BOTH inline Half narrowed<Half>(float value) {
  return {static_cast<__half_raw>(__float2half_rn(value)).x};
}

/// Four numbers by byte permutations and additions: conversions have a sixteenth of their rate on many GPUs, and int8
/// attention would wait for these instead of memory.
template <int N>
__device__ Floats<N> widened(const Piece<std::int8_t, N>& piece) {
  static_assert(N % 4 == 0);
  constexpr std::uint32_t kTwoTo23 = 0x4b000000;  // its last byte counts ones
  Floats<N> floats;
  for (int i = 0; i < N; i += 4) {
    std::uint32_t word;
    memcpy(&word, piece.at + i, sizeof word);
    word ^= 0x80808080U;  // from 0 on
    for (int j = 0; j < 4; ++j) floats.at[i + j] = float_of(__byte_perm(word, kTwoTo23, 0x7440 + j)) - 0x800080p0F;
  }
  return floats;
}

}  // namespace tutti
