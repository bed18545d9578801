#pragma once

#include <cstdint>
#include <cstring>

// What the step's kernels are written in, so that one source serves nvcc and g++: functions marked TUTTI_BOTH are for
// either side; TUTTI_TEAM ones are for the side that compiles them.
#ifdef __CUDACC__
#define TUTTI_BOTH __host__ __device__
#define TUTTI_TEAM __device__
#else
#define TUTTI_BOTH
#define TUTTI_TEAM
#endif

namespace tutti {

/// The types of numbers a kernel meets; `Half` and `Bfloat` are what torch calls kHalf and kBFloat16.
enum class Number : std::uint8_t { float32, float16, bfloat16, int8, int32 };

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// Numbers side by side, read and written at once: sixteen bytes, the most that an instruction loads.
template <class T, int N = 16 / static_cast<int>(sizeof(T))>
struct alignas(N * sizeof(T)) Piece {
  T at[N];
};
template <class T>
inline constexpr int kPiece = 16 / static_cast<int>(sizeof(T));

template <int N>
struct Floats {
  float at[N];
};

TUTTI_BOTH inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

TUTTI_BOTH inline float float_of(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TUTTI_BOTH inline float widened(float value) {
  return value;
}
TUTTI_BOTH inline float widened(std::int8_t value) {
  return static_cast<float>(value);
}
TUTTI_BOTH inline float widened(std::int32_t value) {
  return static_cast<float>(value);
}
TUTTI_BOTH inline float widened(Bfloat value) {
  return float_of(std::uint32_t{value.bits} << 16);
}

/// To the nearest of type T, to the even one of two.
template <class T>
TUTTI_BOTH T narrowed(float value);

template <>
TUTTI_BOTH inline float narrowed<float>(float value) {
  return value;
}

template <>
TUTTI_BOTH inline Bfloat narrowed<Bfloat>(float value) {
  const auto bits = bits_of(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {0x7fc0};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

}  // namespace tutti

#ifdef __CUDACC__
#include "model/decoder_step/numbers_device.h"
#else
#include "model/decoder_step/numbers_host.h"
#endif

namespace tutti {

template <class T, int N>
TUTTI_BOTH Floats<N> widened(const Piece<T, N>& piece) {
  Floats<N> floats;
  for (int i = 0; i < N; ++i) floats.at[i] = widened(piece.at[i]);
  return floats;
}

}  // namespace tutti
