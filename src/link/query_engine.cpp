#include "link/query_engine.h"

#include "link/engine_command.h"

namespace tutti {

Result<std::string> query_engine(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 const OutputLimits& limits) {
  auto command = engine_command(EngineSettings::of_this_process(), arguments);
  if (!command) return tl::unexpected(command.error());
  command->environment.insert(command->environment.end(), environment.begin(), environment.end());
  auto output = child_output(
      {.name = "tutti-engine", .command = command->words, .environment = std::move(command->environment)}, limits);
  if (!output && output.error().hint.empty()) output.error().hint = "Run it by hand to see why";
  return output;
}

}  // namespace tutti
