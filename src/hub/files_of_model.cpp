#include "hub/files_of_model.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace tutti {

namespace fs = std::filesystem;

namespace {

bool is_of_model(const std::string& name) {
  constexpr std::string_view kEndings[] = {".safetensors", ".index.json", ".bin", ".pt", ".tiktoken"};
  constexpr std::string_view kNames[] = {
      "config.json",     "generation_config.json", "preprocessor_config.json", "tokenizer.json",
      "vocab.json",      "tokenizer_config.json",  "special_tokens_map.json",  "vocabulary.json",
      "normalizer.json", "added_tokens.json",      "vocabulary.txt",           "merges.txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); }) ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

std::vector<fs::path> files_of_model(const fs::path& model) {
  std::error_code ignored;
  if (!fs::is_directory(model, ignored)) return model.empty() ? std::vector<fs::path>() : std::vector<fs::path>{model};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(model, ignored))
    if (is_of_model(entry.path().filename().string())) files.push_back(entry.path());
  return files;
}

}  // namespace tutti
