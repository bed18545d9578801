#include "serve/openai/model_names.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(std::string_view name, std::int64_t loaded) {
  return {{"id", name}, {"object", "model"}, {"created", loaded}, {"owned_by", "tutti"}};
}

}  // namespace

ModelNames::ModelNames(std::string given, const std::filesystem::path& found, const std::vector<std::string>& more,
                       const std::string& openai)
    : loaded_(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                  .count()) {
  const auto add = [this](std::string name) {
    if (!name.empty() && !contains(name)) names_.push_back(std::move(name));
  };
  // A path is no name for people, and clients need not learn where the server keeps its models.
  const bool is_path = given.find('/') != std::string::npos && std::filesystem::exists(given);
  std::filesystem::path folder = found;
  if (!folder.has_filename()) folder = folder.parent_path();
  if (!is_path) add(given);
  add(folder.filename().string());
  std::string repository = folder.filename().string();
  if (const auto dashes = repository.find("--"); dashes != std::string::npos) add(repository.replace(dashes, 2, "/"));
  for (const auto& name : more) add(name);
  if (is_path) add(std::move(given));
  add(openai);
}

bool ModelNames::contains(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

ApiError ModelNames::missing(std::string_view name) const {
  return {.status = 404,
          .message =
              "model: '" + std::string(name.substr(0, 100)) + "' is not loaded here; this server has '" + own() + "'",
          .param = "model",
          .code = "model_not_found"};
}

std::string ModelNames::list_json(std::span<const ModelNames* const> loaded) {
  Json models = Json::array();
  for (const ModelNames* names : loaded)
    for (const auto& name : names->names_)
      if (!name.starts_with('/')) models.push_back(json_of(name, names->loaded_));
  return json_line(Json{{"object", "list"}, {"data", std::move(models)}});
}

std::string ModelNames::model_json(std::string_view name) const {
  return json_line(json_of(name, loaded_));
}

}  // namespace tutti
