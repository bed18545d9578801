#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// OpenAI's name of a Whisper tensor that Hugging Face calls `name`: "model.encoder.layers.0.fc1.bias" ->
/// "encoder.blocks.0.mlp.0.bias". OpenAI's own names come back unchanged.
std::string openai_name(std::string_view name);

/// The other way round.
std::string hugging_face_name(std::string_view name);

}  // namespace tutti
