#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/formats/dims.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

struct OpenAiModel {
  WhisperDims dims{};
  std::vector<StoredTensor> tensors{};
};

/// Reads OpenAI's .pt: what torch.save writes for {"dims": {...}, "model_state_dict": {...}}. Its pickle is read as
/// data and never executed; anything in it beyond dicts, numbers and torch tensors is an error that names it. The
/// tensors point into `file`. Thread-safe.
Result<OpenAiModel> parse_openai_pt(std::span<const std::byte> file);

}  // namespace tutti
