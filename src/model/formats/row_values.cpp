#include <bit>
#include <cstring>
#include <utility>

#include "model/formats/formats.h"

namespace tutti {
namespace {

constexpr std::size_t kBlock = 32;
constexpr std::size_t kHalfBlock = kBlock / 2;

template <class T>
T value_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float half_at(const std::byte* at) {
  return float_of_half(value_at<std::uint16_t>(at));
}

template <class Integer>
void read_integers(const std::byte* from, float scale, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(value_at<Integer>(from + i * sizeof(Integer))) * scale;
}

/// Half bytes: element j in the low half of byte j, element j + 16 in its high half. Their fifth bits, if any, are bits
/// j and j + 16 of `fifth`.
void read_half_bytes(const std::byte* from, std::uint32_t fifth, int offset, float scale, float least, float* out) {
  for (std::size_t j = 0; j < kHalfBlock; ++j) {
    const auto byte = std::to_integer<unsigned>(from[j]);
    const unsigned low = (byte & 15U) | (fifth >> j & 1U) << 4;
    const unsigned high = byte >> 4 | (fifth >> (j + kHalfBlock) & 1U) << 4;
    out[j] = static_cast<float>(static_cast<int>(low) + offset) * scale + least;
    out[j + kHalfBlock] = static_cast<float>(static_cast<int>(high) + offset) * scale + least;
  }
}

/// The scale and the minimum of group `at` of 32, six bits each (ggml's get_scale_min_k4).
std::pair<unsigned, unsigned> scale_and_least(std::size_t at, const std::byte* packed) {
  const auto bits = [&](std::size_t index) { return std::to_integer<unsigned>(packed[index]); };
  if (at < 4) return {bits(at) & 63U, bits(at + 4) & 63U};
  return {(bits(at + 4) & 15U) | bits(at - 4) >> 6 << 4, bits(at + 4) >> 4 | bits(at) >> 6 << 4};
}

/// A block of 256 in eight groups (block_q4_K, block_q5_K): half bytes of two groups in one run of 32 bytes, low halves
/// first; bit g of `fifth` belongs to group g. `fifth`: null where there are none.
void read_group_block(const std::byte* at, const std::byte* fifth, const std::byte* halves, float* out) {
  constexpr std::size_t kGroups = 8;
  const float scale = half_at(at), least = half_at(at + 2);
  for (std::size_t group = 0; group < kGroups; ++group) {
    const auto [factor, offset] = scale_and_least(group, at + 4);
    const float step = scale * static_cast<float>(factor), minimum = least * static_cast<float>(offset);
    const std::byte* run = halves + group / 2 * kBlock;
    for (std::size_t j = 0; j < kBlock; ++j) {
      const auto byte = std::to_integer<unsigned>(run[j]);
      unsigned number = group % 2 == 0 ? byte & 15U : byte >> 4;
      if (fifth) number += (std::to_integer<unsigned>(fifth[j]) >> group & 1U) << 4;
      *out++ = step * static_cast<float>(number) - minimum;
    }
  }
}

/// A block of 256 in sixteen groups of 16 (block_q6_K): four bits, two more, int8 scales, their scale.
void read_q6_k(const std::byte* at, float* out) {
  const std::byte *low = at, *high = at + 128, *scales = at + 192;
  const float scale = half_at(at + 208);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t half = i / 128, quarter = i % 128 / kBlock, j = i % kBlock;
    const auto byte = std::to_integer<unsigned>(low[64 * half + quarter % 2 * kBlock + j]);
    const unsigned four = quarter < 2 ? byte & 15U : byte >> 4;
    const unsigned two = std::to_integer<unsigned>(high[kBlock * half + j]) >> 2 * quarter & 3U;
    const auto factor = value_at<std::int8_t>(scales + i / 16);
    out[i] = scale * static_cast<float>(factor) * static_cast<float>(static_cast<int>(four | two << 4) - 32);
  }
}

/// One block (ggml's ggml-common.h: block_q4_0 and the others).
void read_block(ElementType type, const std::byte* at, float* out) {
  const float scale = half_at(at);
  switch (type) {
    case ElementType::q4_0: return read_half_bytes(at + 2, 0, -8, scale, 0, out);
    case ElementType::q4_1: return read_half_bytes(at + 4, 0, 0, scale, half_at(at + 2), out);
    case ElementType::q5_0: return read_half_bytes(at + 6, value_at<std::uint32_t>(at + 2), -16, scale, 0, out);
    case ElementType::q5_1:
      return read_half_bytes(at + 8, value_at<std::uint32_t>(at + 4), 0, scale, half_at(at + 2), out);
    case ElementType::q4_k: return read_group_block(at, nullptr, at + 16, out);
    case ElementType::q5_k: return read_group_block(at, at + 16, at + 48, out);
    case ElementType::q6_k: return read_q6_k(at, out);
    default: return read_integers<std::int8_t>(at + 2, scale, {out, kBlock});
  }
}

}  // namespace

bool is_quantised(const StoredTensor& tensor) {
  const bool integer = tensor.type == ElementType::i8 || tensor.type == ElementType::i16;
  return block_of(tensor.type) > 1 || (integer && !tensor.row_scales.empty());
}

void read_row(const StoredTensor& tensor, std::int64_t row, std::span<float> out) {
  const auto index = static_cast<std::size_t>(row);
  const auto* from = tensor.bytes.data() + index * (out.size() / block_of(tensor.type)) * size_of(tensor.type);
  if (tensor.type == ElementType::i8) return read_integers<std::int8_t>(from, tensor.row_scales[index], out);
  if (tensor.type == ElementType::i16) return read_integers<std::int16_t>(from, tensor.row_scales[index], out);
  for (std::size_t i = 0; i < out.size(); i += block_of(tensor.type), from += size_of(tensor.type))
    read_block(tensor.type, from, out.data() + i);
}

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  // Moved to its bits, the exponent is 112 too small; the multiplication mends that, for subnormal numbers as well.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7FFFU) << 13;
  const bool is_finite = (half & 0x7C00U) != 0x7C00U;
  const std::uint32_t bits =
      is_finite ? std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F) : magnitude | 0x7F800000U;
  return std::bit_cast<float>(sign | bits);
}

}  // namespace tutti
