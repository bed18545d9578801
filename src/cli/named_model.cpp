#include "cli/named_model.h"

#include "base/log.h"

namespace tutti {

Result<std::filesystem::path> find_named_model(std::string_view word, const ModelPlaces& places) {
  auto model = find_model(word, places);
  if (model && *model != word) log(Level::info, "model " + std::string(word) + ": " + model->string());
  return model;
}

}  // namespace tutti
