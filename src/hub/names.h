#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What a person's word for a model refers to.
struct ModelName {
  std::string repo;  // "openai/whisper-tiny.en": organisation and name on a hub
  // "tiny.en": openai-whisper's own name, which is its cache's file name too; empty if it has none
  std::string openai{};
  // "Systran/faster-whisper-tiny.en": where faster-whisper takes the same weights from; empty if it knows none
  std::string faster_whisper{};
};

/// `tiny.en`, `large`, `turbo`, `distil-large-v3`, `whisper-small` or `organisation/name` -> the intended repository.
/// An unknown word is an error that names the nearest known ones.
Result<ModelName> resolve_name(std::string_view word);

/// Known names close to `word`, nearest first, at most three.
std::vector<std::string> nearest_names(std::string_view word);

/// A file name for a repository: "openai--whisper-tiny.en".
std::string folder_name(std::string_view repo);

}  // namespace tutti
