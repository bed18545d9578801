#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "model/formats/dims.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

/// A Whisper model as it is on disk: its shape, and its tensors by OpenAI's names, mapped and not copied. No tensor
/// library is involved.
struct Checkpoint {
  std::filesystem::path path{};
  WhisperShape shape{};
  std::unordered_map<std::string, StoredTensor> tensors{};  // each keeps the name it has in its file
  std::vector<MappedFile> files{};                          // what the tensors point into
};

/// A Hugging Face folder (config.json, model.safetensors or its shards), OpenAI's .pt, a CTranslate2 folder
/// (faster-whisper's) or a model file of whisper.cpp.
Result<Checkpoint> open_checkpoint(const std::filesystem::path& path);

/// The files that the index of a sharded model names (model.safetensors.index.json). They must lie in its own folder.
Result<std::set<std::string>> parse_shard_index(std::string_view index);

/// The stored tensor of that (OpenAI) name, or an error that names it, the shape expected and the shape found.
Result<const StoredTensor*> find_tensor(const Checkpoint& checkpoint, const std::string& name,
                                        std::span<const std::int64_t> shape);

}  // namespace tutti
