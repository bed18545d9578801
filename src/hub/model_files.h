#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class ModelKind {
  hugging_face,  // a folder: config.json, safetensors, tokenizer.json or vocab.json with merges.txt
  openai,        // one .pt file
  ctranslate2,   // a folder of faster-whisper: model.bin, config.json, tokenizer.json or vocabulary.json or .txt
  ggml,          // one file of whisper.cpp
};

/// "Hugging Face", "OpenAI", "CTranslate2", "whisper.cpp".
std::string_view name_of(ModelKind kind);

/// What kind of Whisper model a path is, by names and first bytes; nothing if it is none. A folder whose config.json
/// has the type `whisper` is Hugging Face's, weights or not; one with a CTranslate2 model.bin of Whisper's is
/// faster-whisper's.
std::optional<ModelKind> kind_of(const std::filesystem::path& path);

/// A model on this machine's disk, checked by its files' names and lengths; tensors are read when it is loaded.
struct LocalModel {
  std::filesystem::path path{};
  ModelKind kind = ModelKind::hugging_face;
  std::int64_t size = 0;               // bytes of all its files
  std::vector<std::string> missing{};  // what keeps it from being used, one sentence each; empty when complete

  bool complete() const { return missing.empty(); }
};

/// Looks at a path. Nothing if it is not a Whisper model at all (see kind_of).
std::optional<LocalModel> inspect_model(const std::filesystem::path& path);

/// Those of a folder's file names that the tokenizer is read from (Tokenizer::load): tokenizer.json, CTranslate2's
/// vocabulary.json or .txt, vocab.json and merges.txt with what names the added tokens, or the only *.tiktoken. Empty:
/// there is none.
std::vector<std::string> tokenizer_files_among(const std::vector<std::string>& names);

/// Those of a repository's file names that a Whisper model consists of here: configuration, safetensors (one file or
/// sharded) or else CTranslate2's model.bin, tokenizer where there is one. Sorted. Empty if there are no such weights
/// among them.
std::vector<std::string> needed_files(const std::vector<std::string>& names);

}  // namespace tutti
