#include "model/stored/stored_tensor.h"

namespace tutti {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::f64:
    case ElementType::i64: return 8;
    case ElementType::f32:
    case ElementType::i32: return 4;
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i16: return 2;
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::boolean: return 1;
  }
  return 0;
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::f16: return "F16";
    case ElementType::bf16: return "BF16";
    case ElementType::f32: return "F32";
    case ElementType::f64: return "F64";
    case ElementType::i8: return "I8";
    case ElementType::u8: return "U8";
    case ElementType::i16: return "I16";
    case ElementType::i32: return "I32";
    case ElementType::i64: return "I64";
    case ElementType::boolean: return "BOOL";
  }
  return "?";
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const auto extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

std::optional<std::size_t> byte_count(std::span<const std::int64_t> shape, ElementType type) {
  std::size_t bytes = size_of(type);
  for (const auto extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace tutti
