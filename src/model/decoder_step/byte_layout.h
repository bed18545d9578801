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
  const Piece<K>* numbers;  // [positions][64 / kPiece<K>]

  TUTTI_BOTH static HeadNumbers of(const void* all, std::int32_t head, std::int32_t positions) {
    return {static_cast<const Piece<K>*>(all) + head * positions * (kHeadSize / kPiece<K>)};
  }
  template <class Team>
  TUTTI_TEAM float scale(const Team&, std::int32_t) const {
    return 1;
  }
  template <class Team>
  TUTTI_TEAM float mean(const Team&, int) const {
    return 0;
  }
};

template <>
struct HeadNumbers<std::int8_t> {
  const Piece<std::int8_t>* numbers;
  const float* scales;
  const float* means;

  TUTTI_BOTH static HeadNumbers of(const void* all, std::int32_t head, std::int32_t positions) {
    const auto* begin = static_cast<const std::int8_t*>(all) + head * byte_head_size(positions);
    const auto* scales = reinterpret_cast<const float*>(begin + positions * kHeadSize);
    return {reinterpret_cast<const Piece<std::int8_t>*>(begin), scales, scales + positions};
  }
  template <class Team>
  TUTTI_TEAM float scale(const Team& team, std::int32_t position) const {
    return team.load(scales + position);
  }
  template <class Team>
  TUTTI_TEAM float mean(const Team& team, int dimension) const {
    return team.load(means + dimension);
  }
};

}  // namespace tutti
