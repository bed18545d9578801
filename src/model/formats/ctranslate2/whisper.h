#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/formats/dims.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

struct Ctranslate2Whisper {
  WhisperShape shape{};
  std::vector<std::pair<std::string, StoredTensor>>
      tensors{};  // by OpenAI's names; each keeps the name of its variable
};

/// Reads a CTranslate2 model.bin as a Whisper model. Its fused layers (query, key and value in one matrix) come apart
/// into views of their rows; int8 and int16 weights keep their numbers, their scales become factors. What the file has
/// beyond Whisper (another activation, post-norm, a bias of the keys) is an error that names it. The tensors point into
/// `file`. Thread-safe.
Result<Ctranslate2Whisper> parse_ctranslate2_whisper(std::span<const std::byte> file);

}  // namespace tutti
