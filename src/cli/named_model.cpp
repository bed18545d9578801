#include "cli/named_model.h"

#include "base/log.h"

namespace tutti {

Result<std::filesystem::path> find_named_model(std::string_view word, const ModelFolders& folders) {
  auto model = find_model(word, folders);
  if (model && *model != word) log(Level::info, "model " + std::string(word) + ": " + model->string());
  return model;
}

Result<StoreUrl> store_named(const std::filesystem::path& state) {
  auto url = StoreUrl::parse(state.empty() ? state_folder().string() : state.string());
  if (url) return url;
  Error error = url.error();
  error.what = "--state: " + error.what;
  return tl::unexpected(error);
}

}  // namespace tutti
