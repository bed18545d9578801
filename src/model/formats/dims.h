#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Shape of a Whisper model, in OpenAI's names.
struct WhisperDims {
  std::int32_t n_mels = 80;
  std::int32_t n_audio_ctx = 1500;  // encoder positions; a window is twice as many mel frames
  std::int32_t n_audio_state = 0;
  std::int32_t n_audio_head = 0;
  std::int32_t n_audio_layer = 0;
  std::int32_t n_vocab = 0;
  std::int32_t n_text_ctx = 448;
  std::int32_t n_text_state = 0;
  std::int32_t n_text_head = 0;
  std::int32_t n_text_layer = 0;

  bool operator==(const WhisperDims&) const = default;
};

/// The dims and what OpenAI's ten numbers leave out: the width of the feed-forward layers.
struct WhisperShape {
  WhisperDims dims{};
  std::int32_t audio_mlp = 0;
  std::int32_t text_mlp = 0;
};

/// OpenAI's rule: feed-forward layers are four times as wide as the state.
WhisperShape openai_shape(const WhisperDims& dims);

/// Every number in a range that makes sense, states divisible by heads, encoder and decoder equally wide.
Result<void> check_shape(const WhisperShape& shape);

/// From the text of a Hugging Face config.json; checked.
Result<WhisperShape> parse_hugging_face_config(std::string_view text);

}  // namespace tutti
