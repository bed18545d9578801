#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

enum class ModelKind {
  hugging_face,  // a folder: config.json, safetensors, tokenizer.json
  openai,        // one .pt file
};

/// A model on this machine's disk, judged by its files' names and lengths; tensors are read by whoever loads it.
struct LocalModel {
  std::filesystem::path path{};
  ModelKind kind = ModelKind::hugging_face;
  std::int64_t size = 0;               // bytes of all its files
  std::vector<std::string> missing{};  // what keeps it from being used, one sentence each; empty when complete

  bool complete() const { return missing.empty(); }
};

/// Looks at a path. Nothing if it is not a Whisper model at all: neither a .pt file nor a folder whose config.json says
/// `whisper` (or is the only thing that is missing beside weights).
std::optional<LocalModel> inspect_model(const std::filesystem::path& path);

/// Of a repository's file names, those a Whisper model consists of here: configuration, safetensors (one file or
/// sharded), tokenizer. Sorted. Empty if there are no safetensors weights among them.
std::vector<std::string> needed_files(const std::vector<std::string>& names);

}  // namespace tutti
