#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Element types that weight files name. Floating-point ones come first.
enum class ElementType : std::uint8_t { f16, bf16, f32, f64, i8, u8, i16, i32, i64, boolean };

std::size_t size_of(ElementType type);
/// As safetensors writes it: "F16", "BF16", ...
std::string_view name_of(ElementType type);

/// "[384, 80, 3]".
std::string shape_text(std::span<const std::int64_t> shape);

/// shape[0] * shape[1] * ... * size_of(type), or nothing where a dimension is negative or the product overflows.
std::optional<std::size_t> byte_count(std::span<const std::int64_t> shape, ElementType type);

/// A tensor as it lies in a file: row-major, little-endian, contiguous. `bytes` points into the mapped file.
struct StoredTensor {
  std::string name{};
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape{};
  std::span<const std::byte> bytes{};
};

}  // namespace tutti
