#include "model/compute_type.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "base/instruction_sets.h"

namespace tutti {
namespace {

constexpr std::array kNames{std::pair{ComputeType::float32, std::string_view("float32")},
                            std::pair{ComputeType::tf32, std::string_view("tf32")},
                            std::pair{ComputeType::bfloat16, std::string_view("bfloat16")},
                            std::pair{ComputeType::float16, std::string_view("float16")},
                            std::pair{ComputeType::int8, std::string_view("int8")},
                            std::pair{ComputeType::int8_float16, std::string_view("int8_float16")}};

at::ScalarType floating_point(ComputeType type) {
  switch (type.kind()) {
    case ComputeType::float32:
    case ComputeType::tf32: return at::kFloat;
    case ComputeType::bfloat16: return at::kBFloat16;
    default: return at::kHalf;
  }
}

}  // namespace

ComputeType::ComputeType(at::ScalarType type) : kind_(float32) {
  if (type == at::kBFloat16)
    kind_ = bfloat16;
  else if (type == at::kHalf)
    kind_ = float16;
  else if (type != at::kFloat)
    throw std::invalid_argument("no compute type of that scalar type");
}

std::optional<ComputeType> ComputeType::named(std::string_view name) {
  for (const auto& [kind, text] : kNames) {
    if (text == name) return kind;
  }
  return {};
}

std::string_view ComputeType::name() const {
  return kNames[kind_].second;
}

Layout layout_of(ComputeType type, at::Device device) {
  const auto plain = floating_point(type);
  const bool of_a_gpu = type == ComputeType::int8_float16;
  if (!device.is_cpu()) return {.activations = plain, .cache = plain, .byte_cross = of_a_gpu};
  if (type == ComputeType::float16 || of_a_gpu) return {.byte_cross = of_a_gpu};
  if (usable_instructions().has(Instructions::avx2)) {
    return {.own_kernels = true,
            .cache = type.keeps_float32() ? at::kFloat : at::kBFloat16,
            .byte_cross = type == ComputeType::int8};
  }
  return type == ComputeType::bfloat16 ? Layout{.activations = plain, .cache = plain} : Layout{};
}

}  // namespace tutti
