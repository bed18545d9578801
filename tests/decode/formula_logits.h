#pragma once

#include <cstdint>
#include <span>

#include "decode/decoding_tokens.h"

namespace tutti {

/// Logits from nothing but a formula, the same as tools/golden/decode.py computes: pseudo-random in [-6, 6), times
/// heavy at every fifth position, the end likelier with time.
inline void formula_logits(std::span<float> row, std::uint64_t seed, std::int32_t position, std::int32_t token,
                           const DecodingTokens& tokens) {
  const auto mix = [](std::uint64_t bits) {
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
  };
  const auto key = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(position)) ^ static_cast<std::uint64_t>(token));
  for (std::size_t id = 0; id < row.size(); ++id) {
    row[id] = static_cast<float>(mix(id ^ key) >> 40U) * 0x1p-24F * 12.0F - 6.0F;
    if (position % 5 != 0 && id >= static_cast<std::size_t>(tokens.timestamp_begin)) row[id] -= 9.0F;
  }
  row[static_cast<std::size_t>(tokens.eot)] += static_cast<float>(position % 64) / 8.0F;
}

}  // namespace tutti
