#include "hub/files_of_model.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"

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

constexpr std::int64_t kPieces = 256, kPiece = 1 << 14;

Result<std::string> digest_of_pieces(const fs::path& file, std::int64_t size) {
  std::ifstream stream(file, std::ios::binary);
  std::string piece(kPiece, '\0');
  Sha256 digest;
  const std::int64_t pieces = std::min(kPieces, (size + kPiece - 1) / kPiece);
  for (std::int64_t i = 0; i < pieces && stream; ++i) {
    const std::int64_t last = std::max<std::int64_t>(size - kPiece, 0);
    stream.seekg(pieces > 1 ? last * i / (pieces - 1) : 0);
    stream.read(piece.data(), std::min(size, kPiece));
    digest.update(std::as_bytes(std::span(piece).first(static_cast<std::size_t>(stream.gcount()))));
  }
  if (!stream) return fail(Fault::unavailable, file.string() + ": cannot be read");
  return digest.hex();
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

Result<std::string> digest_of_model(const fs::path& model) {
  auto files = files_of_model(model);
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.filename(); });
  std::string text;
  for (const auto& file : files) {
    std::error_code gone;
    const auto size = fs::file_size(file, gone);
    if (gone == std::errc::no_such_file_or_directory) continue;  // a model need not have all files that one may have
    if (gone) return fail(Fault::unavailable, file.string() + ": cannot be read");
    const auto pieces = digest_of_pieces(file, static_cast<std::int64_t>(size));
    if (!pieces) return pieces;
    text += file.filename().string() + " " + std::to_string(size) + " " + *pieces + "\n";
  }
  return sha256_of(text);
}

}  // namespace tutti
