#include "hub/find.h"

#include <algorithm>

#include "base/environment.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/try.h"
#include "hub/names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHubPrefix = "models--";

/// The snapshot that `main` refers to; without that reference, the one written last.
fs::path snapshot_of(const fs::path& model) {
  std::error_code ignored;
  if (auto commit = read_regular_file(model / "refs" / "main")) {
    commit->erase(commit->find_last_not_of(" \n") + 1);
    if (auto path = model / "snapshots" / *commit; fs::is_directory(path, ignored)) return path;
  }
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(model / "snapshots", ignored))
    if (newest.empty() || entry.last_write_time(ignored) > fs::last_write_time(newest, ignored)) newest = entry.path();
  return newest;
}

/// "models--openai--whisper-tiny.en" -> "openai/whisper-tiny.en".
std::string repo_of(std::string folder) {
  if (const auto dashes = folder.find("--"); dashes != folder.npos) folder.replace(dashes, 2, "/");
  return folder;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;  // a cache that is not there holds nothing
  for (const auto& entry : fs::directory_iterator(folder, ignored)) paths.push_back(entry.path());
  return paths;
}

/// A repository's snapshot in Hugging Face's cache; where it would be, if there is none.
fs::path in_hub_cache(const std::string& repo, const ModelFolders& folders) {
  const fs::path cached = folders.hugging_face / (std::string(kHubPrefix) + folder_name(repo));
  const fs::path snapshot = snapshot_of(cached);
  return snapshot.empty() ? cached : snapshot;
}

/// Where a model of this name may be in one of the caches, in the order of preference.
std::vector<fs::path> candidates(const ModelName& name, const ModelFolders& folders) {
  std::vector<fs::path> paths;
  if (!folders.first.empty()) {
    paths.push_back(folders.first / folder_name(name.repo));
    if (!name.openai.empty()) paths.push_back(folders.first / (name.openai + ".pt"));
  }
  paths.push_back(folders.own / folder_name(name.repo));
  paths.push_back(in_hub_cache(name.repo, folders));
  if (!name.openai.empty()) paths.push_back(folders.whisper / (name.openai + ".pt"));
  if (!name.faster_whisper.empty()) paths.push_back(in_hub_cache(name.faster_whisper, folders));
  if (!folders.fetched.empty()) paths.push_back(folders.fetched / folder_name(name.repo));
  return paths;
}

std::string lacks(const LocalModel& model) {
  return model.path.string() + ": incomplete: " + joined(model.missing, "; ");
}

Result<fs::path> not_found(std::string_view word, const std::vector<fs::path>& looked_at, const std::string& broken) {
  std::string what = "model '" + std::string(word) + "' is not on this machine; looked at";
  for (const auto& path : looked_at) what += (path == looked_at.front() ? " " : ", ") + path.string();
  if (!broken.empty()) what += "; " + broken;
  return fail(broken.empty() ? Fault::missing : Fault::corrupt, std::move(what),
              "Get it with: tutti pull " + std::string(word));
}

Result<fs::path> find_by_name(std::string_view word, const ModelFolders& folders) {
  const auto name = TRY(resolve_name(word));
  const auto paths = candidates(name, folders);
  std::string broken;
  for (const auto& path : paths) {
    const auto model = inspect_model(path);
    if (model && model->complete()) return path;
    if (model) broken += (broken.empty() ? "" : "; ") + lacks(*model);
  }
  return not_found(word, paths, broken);
}

/// What only a path has: a folder in front that is there, a slash behind, or the ending of a model's file.
bool names_a_path(std::string_view word) {
  const fs::path path(word);
  std::error_code ignored;
  if (path.has_parent_path() && (path.filename().empty() || fs::is_directory(path.parent_path(), ignored))) return true;
  constexpr std::string_view kEndings[] = {".pt", ".bin", ".safetensors", ".gguf", ".ggml"};
  return std::ranges::find(kEndings, path.extension().string()) != std::end(kEndings);
}

Result<fs::path> no_such_path(const fs::path& path) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> there;
  for (const auto& entry : entries_of(path.parent_path().empty() ? "." : path.parent_path()))
    if (inspect_model(entry)) there.push_back(entry.string());
  std::ranges::sort(there);
  if (there.size() > kNamed) there.resize(kNamed);
  std::string hint = "'tutti models' lists what is here";
  if (!there.empty())
    hint = "Models there: " + joined(there, ", ");
  else if (resolve_name(path.string()))
    hint += "; a model of a hub is fetched with: tutti pull " + path.string();
  return fail(Fault::missing,
              "model '" + path.string() + "': no such file or folder, and no model of this name is on this machine",
              std::move(hint));
}

}  // namespace

ModelFolders ModelFolders::from_environment() {
  const fs::path cache = xdg_home("XDG_CACHE_HOME", ".cache");
  const fs::path hf_home = variable("HF_HOME").value_or(cache / "huggingface");
  return {
      .own = cache_folder() / "models",
      .hugging_face = variable("HF_HUB_CACHE").value_or(variable("HUGGINGFACE_HUB_CACHE").value_or(hf_home / "hub")),
      .whisper = cache / "whisper",
      .fetched = cache_folder() / "fetched",
  };
}

Result<fs::path> find_model(std::string_view word, const ModelFolders& folders) {
  if (word.empty()) return fail(Fault::usage, "no model is named", "Name a folder, a file or a model such as tiny.en");
  const fs::path path(word);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    auto named = find_by_name(word, folders);
    const bool is_unknown = !named && named.error().fault != Fault::corrupt;
    return is_unknown && names_a_path(word) ? no_such_path(path) : named;
  }
  if (const auto model = inspect_model(path)) {
    if (model->complete()) return path;
    return fail(Fault::corrupt, lacks(*model), "Copy or download it again");
  }
  // A folder beside us that happens to be called like a model is not in the way of that model.
  if (word.find('/') == word.npos && resolve_name(word)) return find_by_name(word, folders);
  const auto config = read_regular_file(path / "config.json");
  if (!config && config.error().fault != Fault::missing) return tl::unexpected(config.error());
  if (config && !nlohmann::json::accept(*config))
    return fail(Fault::corrupt, (path / "config.json").string() + " is damaged: it is no JSON",
                "Copy or download the model again");
  return fail(
      Fault::usage, path.string() + " is no Whisper model",
      "Expected a folder whose config.json has \"model_type\": \"whisper\", a faster-whisper folder, a .pt file of "
      "openai-whisper or a model file of whisper.cpp");
}

std::vector<ListedModel> list_models(const ModelFolders& folders) {
  std::vector<ListedModel> models;
  const auto add = [&](std::string name, std::string where, const fs::path& path) {
    if (auto files = inspect_model(path))
      models.push_back({.name = std::move(name), .where = std::move(where), .files = std::move(*files)});
  };
  for (const auto& path : entries_of(folders.own))
    if (path.extension() != ".pulling") add(repo_of(path.filename()), "tutti", path);
  for (const auto& path : entries_of(folders.hugging_face)) {
    const std::string folder = path.filename();
    if (!folder.starts_with(kHubPrefix)) continue;
    const fs::path snapshot = snapshot_of(path);
    add(repo_of(folder.substr(kHubPrefix.size())), "Hugging Face", snapshot);
    // A repository of whisper.cpp's holds one model a file; each is named by its path.
    for (const auto& file : entries_of(snapshot))
      if (kind_of(file) == ModelKind::ggml) add(file, "Hugging Face", file);
  }
  for (const auto& path : entries_of(folders.fetched)) add(repo_of(path.filename()), "set-up", path);
  for (const auto& path : entries_of(folders.whisper)) add(path.stem(), "openai-whisper", path);
  std::ranges::sort(models, {}, [](const ListedModel& m) { return std::pair(m.name, m.where); });
  return models;
}

}  // namespace tutti
