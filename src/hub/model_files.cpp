#include "hub/model_files.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/files.h"
#include "base/json.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kGgmlMark = "lmgg";  // 0x67676d6c, little-endian
constexpr std::string_view kWhisperSpec("\x0C\0WhisperSpec\0", 14);

Json parsed(const fs::path& path) {
  const auto text = read_regular_file(path);
  return text ? Json::parse(*text, nullptr, false) : Json(Json::value_t::discarded);
}

/// The sizes in a safetensors file's header.
struct Promise {
  std::uint64_t length = 0;
  std::string first_cut{};  // the first tensor that is not all there
};

/// 8 bytes, a JSON header of that length, tensors up to the largest offset.
std::optional<Promise> promise_of(std::string_view bytes) {
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) return std::nullopt;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes.remove_prefix(sizeof header_size);
  if (header_size > bytes.size()) return std::nullopt;
  const Json header = Json::parse(bytes.substr(0, header_size), nullptr, false);
  if (!header.is_object()) return std::nullopt;
  const std::uint64_t present = bytes.size() - header_size;
  std::uint64_t end = 0, first_cut = ~std::uint64_t{0};
  Promise promise;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto offsets = tensor.is_object() ? tensor.value("data_offsets", Json()) : Json();
    if (!offsets.is_array() || offsets.size() != 2) return std::nullopt;
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) return std::nullopt;
    const auto from = offsets[0].get<std::uint64_t>(), to = offsets[1].get<std::uint64_t>();
    end = std::max(end, to);
    if (to <= present || from >= first_cut) continue;
    first_cut = from;
    promise.first_cut = name;
  }
  promise.length = sizeof header_size + header_size + end;
  return promise;
}

/// Older folders have their weights pickled, and no others.
std::string instead_of(const fs::path& folder) {
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (is_there(folder / name))
      return ", and " + std::string(name) + " is not read: let transformers save the model again, as safetensors";
  return "";
}

void check_safetensors(const fs::path& folder, const std::string& name, std::vector<std::string>& missing) {
  const auto file = MappedFile::open(folder / name);
  if (!file) {
    const bool absent = file.error().fault == Fault::missing;
    return missing.push_back(absent ? name + " is not there" + instead_of(folder) : file.error().what);
  }
  const auto promise = promise_of(file->text());
  if (!promise) return missing.push_back(name + " is not a whole safetensors file");
  if (promise->length == file->bytes().size()) return;
  missing.push_back(
      name + " has " + std::to_string(file->bytes().size()) + " bytes of " + std::to_string(promise->length) +
      (promise->first_cut.empty() ? "" : ", the first tensor that is cut off is '" + promise->first_cut + "'"));
}

/// Weights in one file, or in the shards that the index names.
void check_weights(const fs::path& folder, std::vector<std::string>& missing) {
  if (!is_there(folder / kIndex) || is_there(folder / kWeights))
    return check_safetensors(folder, std::string(kWeights), missing);
  const Json index = parsed(folder / kIndex);
  const Json map = index.is_object() ? index.value("weight_map", Json()) : Json();
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map.items())
    if (shard.is_string()) shards.insert(shard.get<std::string>());
  if (shards.empty()) missing.push_back(std::string(kIndex) + " names no shards");
  for (const auto& shard : shards) check_safetensors(folder, shard, missing);
}

std::int64_t size_of_files(const fs::path& folder) {
  std::int64_t size = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) size += static_cast<std::int64_t>(entry.file_size(ignored));
  return size;
}

void check_tokenizer(const fs::path& folder, std::vector<std::string>& missing) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) names.push_back(entry.path().filename());
  if (tokenizer_files_among(names).empty())
    missing.emplace_back(
        "tokenizer.json is not there, nor vocab.json with merges.txt, nor vocabulary.json or .txt, nor one .tiktoken");
}

LocalModel inspect_folder(const fs::path& folder) {
  LocalModel model{.path = folder, .kind = ModelKind::hugging_face, .size = size_of_files(folder)};
  check_weights(folder, model.missing);
  check_tokenizer(folder, model.missing);
  return model;
}

LocalModel inspect_ctranslate2(const fs::path& folder) {
  LocalModel model{.path = folder, .kind = ModelKind::ctranslate2, .size = size_of_files(folder)};
  check_tokenizer(folder, model.missing);
  return model;
}

/// A .pt is a zip archive, whose directory comes last: one that was cut off has no end record in its last 64 KiB.
LocalModel inspect_checkpoint(const fs::path& path) {
  LocalModel model{.path = path, .kind = ModelKind::openai};
  const auto file = MappedFile::open(path);
  if (!file) {
    model.missing.push_back(file.error().what);
    return model;
  }
  const auto text = file->text();
  model.size = static_cast<std::int64_t>(text.size());
  if (text.substr(text.size() - std::min<std::size_t>(text.size(), 1 << 16)).rfind("PK\5\6") == text.npos)
    model.missing.emplace_back("the file is cut off, or not a PyTorch archive");
  return model;
}

/// Whisper.cpp's file: the mark it begins with. Its tensors are counted when it is loaded.
LocalModel inspect_ggml(const fs::path& path) {
  std::error_code ignored;
  return {.path = path, .kind = ModelKind::ggml, .size = static_cast<std::int64_t>(fs::file_size(path, ignored))};
}

/// The first bytes of a file, fewer where it is shorter.
std::string first_bytes(const fs::path& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";  // the opening of a pipe would wait for a writer
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool is_ggml_file(const fs::path& path) {
  return first_bytes(path, kGgmlMark.size()) == kGgmlMark;
}

/// model.bin: a version in 4 bytes, then the model's kind as a text with its length in front and a zero behind.
bool is_ctranslate2_whisper(const fs::path& file) {
  const std::string bytes = first_bytes(file, 4 + kWhisperSpec.size());
  return bytes.size() > 4 && bytes.substr(4) == kWhisperSpec;
}

std::optional<ModelKind> kind_of_folder(const fs::path& folder) {
  const Json config = parsed(folder / "config.json");
  if (config.is_object() && config.value("model_type", Json()) == "whisper") return ModelKind::hugging_face;
  if (is_ctranslate2_whisper(folder / "model.bin")) return ModelKind::ctranslate2;
  return std::nullopt;
}

bool is_shard(std::string_view name) {
  return name.starts_with("model-") && name.ends_with(".safetensors") && name.find("-of-") != name.npos &&
         name.find('/') == name.npos;
}

}  // namespace

std::string_view name_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::hugging_face: return "Hugging Face";
    case ModelKind::openai: return "OpenAI";
    case ModelKind::ctranslate2: return "CTranslate2";
    case ModelKind::ggml: return "whisper.cpp";
  }
  return "?";
}

std::optional<ModelKind> kind_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return kind_of_folder(path);
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  if (path.extension() == ".pt") return ModelKind::openai;
  return is_ggml_file(path) ? std::optional(ModelKind::ggml) : std::nullopt;
}

std::optional<LocalModel> inspect_model(const fs::path& path) {
  const auto kind = kind_of(path);
  if (!kind) return std::nullopt;
  switch (*kind) {
    case ModelKind::hugging_face: return inspect_folder(path);
    case ModelKind::openai: return inspect_checkpoint(path);
    case ModelKind::ctranslate2: return inspect_ctranslate2(path);
    case ModelKind::ggml: return inspect_ggml(path);
  }
  return std::nullopt;
}

std::vector<std::string> tokenizer_files_among(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  for (const auto* name : {"tokenizer.json", "vocabulary.json", "vocabulary.txt"})
    if (has(name)) return {name};
  if (has("vocab.json") && has("merges.txt")) {
    std::vector<std::string> several{"vocab.json", "merges.txt"};
    for (const auto* name : {"added_tokens.json", "tokenizer_config.json"})
      if (has(name)) several.emplace_back(name);
    return several;
  }
  const auto is_tiktoken = [](const std::string& name) {
    return name.ends_with(".tiktoken") && name.find('/') == name.npos;
  };
  if (std::ranges::count_if(names, is_tiktoken) != 1) return {};
  return {*std::ranges::find_if(names, is_tiktoken)};
}

std::vector<std::string> needed_files(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  std::vector<std::string> needed;
  if (has(kWeights)) {
    needed.emplace_back(kWeights);
  } else if (has(kIndex)) {
    needed.emplace_back(kIndex);
    std::ranges::copy_if(names, std::back_inserter(needed), is_shard);
  } else if (has("model.bin") && (has("vocabulary.json") || has("vocabulary.txt"))) {
    needed.emplace_back("model.bin");
  } else {
    return {};
  }
  for (const auto* name : {"config.json", "generation_config.json", "preprocessor_config.json"})
    if (has(name)) needed.emplace_back(name);
  for (auto& name : tokenizer_files_among(names)) needed.push_back(std::move(name));
  std::ranges::sort(needed);
  return needed;
}

}  // namespace tutti
