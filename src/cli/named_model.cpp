#include "cli/named_model.h"

#include "base/log.h"

namespace tutti {

Result<std::filesystem::path> find_named_model(std::string_view word, const ModelFolders& folders) {
  auto model = find_model(word, folders);
  if (model && *model != word) log(Level::info, "model " + std::string(word) + ": " + model->string());
  return model;
}

}  // namespace tutti
