#pragma once

#include "model/decoder_step/numbers.h"

namespace tutti {

/// Keys or values of one head of a window in eight bits, as a GPU reads them: the numbers, [positions, 64] int8; their
/// scales, [positions] float32; the mean over the positions, [64] float32, that was taken off before and is not in the
/// keys' scores (no softmax feels it) but is added to what attention makes of values. The same numbers as ByteKv's
/// (model/cpu/byte_kv.h), without its order for VNNI.
inline constexpr int kHeadSize = 64;

/// Bytes of one head; the next begins behind it, at a multiple of sixteen.
TUTTI_BOTH inline std::int64_t byte_head_size(std::int64_t positions) {
  const auto size = positions * (kHeadSize + 4) + kHeadSize * 4;
  return (size + 15) / 16 * 16;
}

/// As attention reads one head of keys or values of type K.
template <class K>
struct HeadNumbers {
  const Eight<K>* numbers;  // [positions][8]

  TUTTI_BOTH static HeadNumbers of(const void* all, std::int64_t head, std::int64_t positions) {
    return {static_cast<const Eight<K>*>(all) + head * positions * kHeadSize / kEight};
  }
  TUTTI_BOTH float scale(int) const { return 1; }
  TUTTI_BOTH float mean(int) const { return 0; }
};

template <>
struct HeadNumbers<std::int8_t> {
  const Eight<std::int8_t>* numbers;
  const float* scales;
  const float* means;

  TUTTI_BOTH static HeadNumbers of(const void* all, std::int64_t head, std::int64_t positions) {
    const auto* begin = static_cast<const std::int8_t*>(all) + head * byte_head_size(positions);
    const auto* scales = reinterpret_cast<const float*>(begin + positions * kHeadSize);
    return {reinterpret_cast<const Eight<std::int8_t>*>(begin), scales, scales + positions};
  }
  TUTTI_BOTH float scale(int position) const { return scales[position]; }
  TUTTI_BOTH float mean(int dimension) const { return means[dimension]; }
};

}  // namespace tutti
