#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/files.h"
#include "support/real_model.h"
#include "support/test_data.h"

namespace tutti {

/// models/nano of the project: knows spoken digits and Morse.
inline std::filesystem::path nano_model() {
  return std::filesystem::path(TUTTI_SOURCE_DIR) / "models/nano";
}

/// The tiny.en of the shared data, whose vocabulary is spoken digits, or its path where it is not there.
inline std::filesystem::path shared_tiny_model() {
  return shared_data() / "whisper-tiny.en";
}

inline bool has_shared_tiny_model() {
  return std::filesystem::exists(shared_tiny_model() / "model.safetensors");
}

/// A model that knows spoken digits: the shared one where it is there, else models/nano.
inline std::filesystem::path digits_model() {
  return has_shared_tiny_model() ? shared_tiny_model() : nano_model();
}

/// A model of tiny.en's shape and vocabulary: the shared one, else OpenAI's own in CTranslate2's form.
inline std::filesystem::path tiny_model() {
  return has_shared_tiny_model() ? shared_tiny_model() : real_model();
}

/// Fills `folder` with a model that is whole but for its token embedding, of the shared data or made from models/nano.
inline void put_model_without_embedding(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path shared = shared_data() / "whisper-tiny.en-partial/model-minus-token-embedding.safetensors";
  const bool is_shared = fs::exists(shared) && fs::exists(shared_tiny_model());
  const fs::path from = is_shared ? shared_tiny_model() : nano_model();
  for (const char* name : {"config.json", "tokenizer.json", "generation_config.json"})
    fs::copy(from / name, folder / name);
  if (is_shared) return fs::copy(shared, folder / "model.safetensors");
  auto weights = read_file(from / "model.safetensors").value();
  const std::string embedding = "model.decoder.embed_tokens.weight", other = "model.decoder.embed_tokens.absent";
  const auto at = weights.find(embedding);
  if (at == std::string::npos) throw std::runtime_error("models/nano: no " + embedding);
  weights.replace(at, embedding.size(), other);
  if (!write_file_atomically(folder / "model.safetensors", weights)) throw std::runtime_error("no model written");
}

}  // namespace tutti

/// Skips the test, by name, where neither the shared tiny.en nor the fetched one is there.
#define TUTTI_NEEDS_TINY_MODEL()         \
  if (!tutti::has_shared_tiny_model()) { \
    TUTTI_NEEDS_REAL_MODEL();            \
  }                                      \
  static_assert(true)
