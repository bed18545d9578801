#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hub/model_files.h"

namespace tutti {

/// The folders in which models lie on this machine. Any of them may be absent.
struct ModelFolders {
  std::filesystem::path own{};           // what `pull` fills
  std::filesystem::path hugging_face{};  // Hugging Face's hub cache
  std::filesystem::path whisper{};       // openai-whisper's cache of .pt files
  std::filesystem::path fetched{};       // what set-up fetched (tools/fetch_model.py), with folders as in `own`
  std::filesystem::path first{};  // looked at before the others, for folders as in `own` and files as in `whisper`

  /// $TUTTI_CACHE/models, $HF_HUB_CACHE or $HF_HOME/hub, $XDG_CACHE_HOME/whisper and $TUTTI_CACHE/fetched, each with
  /// its usual default.
  static ModelFolders from_environment();
};

/// The path of a complete model: `word` itself where it is a path to one, else the model of that name in
/// `folders.first`, our own cache, Hugging Face's or openai-whisper's, in this order; then faster-whisper's copy in
/// Hugging Face's cache; last, what set-up fetched. Errors name what was looked at, what is missing from an incomplete
/// copy and how to get the model. Touches no network.
Result<std::filesystem::path> find_model(std::string_view word, const ModelFolders& folders);

struct ListedModel {
  std::string name{};   // what --model takes
  std::string where{};  // "tutti", "Hugging Face" or "openai-whisper": whose cache it is in; "set-up" fetched it
  LocalModel files{};
};

/// Every Whisper model in the caches and of set-up, complete or not, sorted by name.
std::vector<ListedModel> list_models(const ModelFolders& folders);

}  // namespace tutti
