#include "model/formats/stored_tensor.h"

namespace tutti {

std::size_t block_of(ElementType type) {
  if (type >= ElementType::q4_k) return 256;
  return type >= ElementType::q4_0 ? 32 : 1;
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::q6_k: return 210;  // 6 bits each, 16 int8 scales, their float16 scale
    case ElementType::q5_k: return 176;  // the same with fifth bits
    case ElementType::q4_k: return 144;  // float16 scale and minimum, 8 of both with 6 bits, half bytes
    case ElementType::q8_0: return 34;   // float16 scale, 32 bytes
    case ElementType::q5_1: return 24;   // float16 scale and minimum, 32 fifth bits, 32 half bytes
    case ElementType::q5_0: return 22;   // the same without minimum
    case ElementType::q4_1: return 20;
    case ElementType::q4_0: return 18;
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
    case ElementType::q4_0: return "Q4_0";
    case ElementType::q4_1: return "Q4_1";
    case ElementType::q5_0: return "Q5_0";
    case ElementType::q5_1: return "Q5_1";
    case ElementType::q8_0: return "Q8_0";
    case ElementType::q4_k: return "Q4_K";
    case ElementType::q5_k: return "Q5_K";
    case ElementType::q6_k: return "Q6_K";
  }
  return "?";
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const auto extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

std::optional<std::size_t> byte_count(std::span<const std::int64_t> shape, ElementType type) {
  const std::size_t block = block_of(type);
  if (block > 1 && (shape.empty() || shape.back() % static_cast<std::int64_t>(block) != 0)) return std::nullopt;
  std::size_t bytes = size_of(type);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto extent = shape[i] / static_cast<std::int64_t>(i + 1 == shape.size() ? block : 1);
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace tutti
