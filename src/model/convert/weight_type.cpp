#include "model/convert/weight_type.h"

#include <array>
#include <utility>

namespace tutti {
namespace {

constexpr std::array kNames{std::pair{WeightType::float32, std::string_view("float32")},
                            std::pair{WeightType::float16, std::string_view("float16")},
                            std::pair{WeightType::bfloat16, std::string_view("bfloat16")},
                            std::pair{WeightType::int8, std::string_view("int8")},
                            std::pair{WeightType::q8_0, std::string_view("q8_0")}};

}  // namespace

std::optional<WeightType> weight_type_named(std::string_view name) {
  for (const auto& [type, known] : kNames)
    if (known == name) return type;
  return std::nullopt;
}

std::string_view name_of(WeightType type) {
  for (const auto& [known, name] : kNames)
    if (known == type) return name;
  return "?";
}

}  // namespace tutti
