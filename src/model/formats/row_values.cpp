#include <bit>
#include <cstring>

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

/// One block of 32 (ggml's ggml-common.h: block_q4_0 and the others).
void read_block(ElementType type, const std::byte* at, float* out) {
  const float scale = half_at(at);
  switch (type) {
    case ElementType::q4_0: return read_half_bytes(at + 2, 0, -8, scale, 0, out);
    case ElementType::q4_1: return read_half_bytes(at + 4, 0, 0, scale, half_at(at + 2), out);
    case ElementType::q5_0: return read_half_bytes(at + 6, value_at<std::uint32_t>(at + 2), -16, scale, 0, out);
    case ElementType::q5_1:
      return read_half_bytes(at + 8, value_at<std::uint32_t>(at + 4), 0, scale, half_at(at + 2), out);
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
  for (std::size_t i = 0; i < out.size(); i += kBlock, from += size_of(tensor.type))
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
