#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Element types that weight files name. The floating-point ones that weights may have come first; ggml's blocks, 32 or
/// 256 elements with scales of their own, last.
enum class ElementType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  i8,
  u8,
  i16,
  i32,
  i64,
  boolean,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
};

/// Elements that are stored together: 32 or 256 for ggml's blocks, else 1.
std::size_t block_of(ElementType type);
/// Bytes of one element, or of one block.
std::size_t size_of(ElementType type);
/// As safetensors writes it: "F16", "BF16", ...; ggml's as ggml does: "Q8_0".
std::string_view name_of(ElementType type);

/// "[384, 80, 3]".
std::string shape_text(std::span<const std::int64_t> shape);

/// What a tensor of that shape and type takes, or nothing where a dimension is negative, the product overflows, or rows
/// are not made of whole blocks.
std::optional<std::size_t> byte_count(std::span<const std::int64_t> shape, ElementType type);

/// A tensor as it is in a file: row-major, little-endian, contiguous. `bytes` points into the mapped file.
struct StoredTensor {
  std::string name{};
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape{};
  std::span<const std::byte> bytes{};
  /// Factors of i8 and i16 weights, one per row (shape[0], the output channels): value = element * row_scales[row].
  std::vector<float> row_scales{};
};

}  // namespace tutti
