#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/files/vocabulary_file.h"

namespace tutti {

/// What precedes the tensors in a model file of whisper.cpp ("ggml-tiny.en.bin").
struct GgmlHead {
  std::int32_t n_vocab = 0;
  std::int32_t n_audio_ctx = 0;
  std::int32_t n_audio_state = 0;
  std::int32_t n_audio_head = 0;
  std::int32_t n_audio_layer = 0;
  std::int32_t n_text_ctx = 0;
  std::int32_t n_text_state = 0;
  std::int32_t n_text_head = 0;
  std::int32_t n_text_layer = 0;
  std::int32_t n_mels = 0;
  std::int32_t file_type = 0;              // 1000 * version of the quantised blocks + the type most tensors have
  std::vector<std::string_view> tokens{};  // of text, as bytes, by id; they point into the file
  std::size_t tensors_at = 0;              // offset of the first tensor
};

/// Whether `file` begins as whisper.cpp's models do.
bool is_ggml(std::string_view file);

/// Reads the head (format: models/convert-pt-to-ggml.py of whisper.cpp); every length is checked.
Result<GgmlHead> parse_ggml_head(std::string_view file);

/// The tokens as a vocabulary without merges.
VocabularyFile vocabulary_of(const GgmlHead& head);

}  // namespace tutti
