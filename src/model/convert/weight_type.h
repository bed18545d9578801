#pragma once

#include <optional>
#include <string_view>

namespace tutti {

/// What weights are converted to. int8: matrices as rows of int8 with a float32 factor each, all else in float32. q8_0:
/// matrices in ggml's blocks of 32 int8 with a float16 factor each; whisper.cpp's files alone have it.
enum class WeightType { float32, float16, bfloat16, int8, q8_0 };

/// "float16", ...; nothing for another word.
std::optional<WeightType> weight_type_named(std::string_view name);
std::string_view name_of(WeightType type);

}  // namespace tutti
