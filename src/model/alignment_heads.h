#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/formats/dims.h"

namespace tutti {

/// A head of the decoder's cross-attention.
struct AttentionHead {
  std::int32_t layer = 0;
  std::int32_t head = 0;

  bool operator==(const AttentionHead&) const = default;
};

/// The heads whose attention follows the time at which words are spoken: what the model's folder lists as
/// `alignment_heads` (generation_config.json; config.json of a CTranslate2 folder), else OpenAI's choice for a model of
/// this shape, else the reference's default, all heads of the upper half of the layers. A list that does not fit the
/// model is passed over with a warning. Sorted; never empty.
std::vector<AttentionHead> alignment_heads(const std::filesystem::path& model, const WhisperDims& dims);

/// The list in the text of one such file; empty where it has none. Fault::corrupt for what is no JSON object, or names
/// a head that the model does not have.
Result<std::vector<AttentionHead>> parse_alignment_heads(std::string_view config, const WhisperDims& dims);

/// OpenAI's choice alone (openai-whisper 20250625, __init__.py), by the shape; empty for a shape they never published.
/// large-v1 has large-v2's shape: `is_first_large` distinguishes them.
std::vector<AttentionHead> openai_alignment_heads(const WhisperDims& dims, bool is_first_large);

}  // namespace tutti
