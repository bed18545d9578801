#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/error.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

/// What a CTranslate2 model.bin holds. Scalars have an empty shape.
struct Ctranslate2Variables {
  std::string spec{};  // "WhisperSpec"
  std::uint32_t revision = 0;
  std::map<std::string, StoredTensor, std::less<>> by_name{};  // aliases resolved: the same bytes under each name
};

/// Reads the container alone (format: python/ctranslate2/specs/model_spec.py, binary versions 4 to 6): names, shapes,
/// types, bytes, aliases. Nothing is trusted; an error names the variable. The tensors point into `file`. Thread-safe.
Result<Ctranslate2Variables> parse_ctranslate2(std::span<const std::byte> file);

}  // namespace tutti
