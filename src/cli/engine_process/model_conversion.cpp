#include "cli/engine_process/model_conversion.h"

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/named_model.h"
#include "hub/find.h"
#include "hub/names.h"

namespace tutti {

bool names_model(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return kind_of(word).has_value() || std::filesystem::is_directory(word);
  return !word.ends_with(".json") && resolve_name(word).has_value();
}

int convert_model_by_engine(const std::string& word, const std::filesystem::path& into, const std::string& type) {
  const auto model = find_named_model(word);
  if (!model) return complain(model.error());
  return run_engine({"convert", "--model", model->string(), "--into", into.string(), "--type", type},
                    "it converted " + model->string() + "; nothing was written");
}

}  // namespace tutti
