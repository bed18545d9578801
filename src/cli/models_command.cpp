#include <cstdio>

#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "hub/find.h"

namespace tutti {
namespace {

void print_json(const std::vector<ListedModel>& models) {
  for (const auto& model : models) {
    const nlohmann::ordered_json line{{"name", model.name},
                                      {"where", model.where},
                                      {"format", name_of(model.files.kind)},
                                      {"path", model.files.path.string()},
                                      {"bytes", model.files.size},
                                      {"missing", model.files.missing}};
    std::puts(json_line(line).c_str());
  }
}

void print_table(const std::vector<ListedModel>& models) {
  for (const auto& model : models) {
    std::printf("%-32s %10s  %-12s  %-14s %s\n", without_controls(model.name).c_str(),
                bytes_text({model.files.size}).c_str(), std::string(name_of(model.files.kind)).c_str(),
                model.where.c_str(), without_controls(model.files.path.string()).c_str());
    for (const auto& lack : model.files.missing)
      std::printf("%-32s incomplete: %s\n", "", without_controls(lack).c_str());
  }
}

}  // namespace

int run_models(const std::vector<std::string>& arguments) {
  bool json = false;
  OptionTable table("models",
                    "List the Whisper models in the caches of Tutti, Hugging Face (faster-whisper's among them) and "
                    "openai-whisper, and the one that set-up fetched, with their format. Any of them can be given to "
                    "--model by its name.");
  table.add_switch("json", json, "one JSON object a line");
  table.examples({"tutti models", "tutti models --json"});
  if (const auto code = start_command(table, arguments)) return *code;

  const auto models = list_models(ModelFolders::from_environment());
  if (json)
    print_json(models);
  else if (models.empty())
    std::puts("No models yet. Get one: tutti pull tiny.en");
  else
    print_table(models);
  return kDone;
}

}  // namespace tutti
