#include "link/query_engine.h"

#include "base/try.h"
#include "link/engine_command.h"

namespace tutti {

Result<std::string> query_engine(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 const OutputLimits& limits) {
  auto command = TRY(engine_command(EngineSettings::of_this_process(), arguments));
  command.environment.insert(command.environment.end(), environment.begin(), environment.end());
  auto output = child_output(
      {.name = "tutti-engine", .command = command.words, .environment = std::move(command.environment)}, limits);
  if (!output && output.error().hint.empty()) output.error().hint = "Run it by hand to see why";
  return output;
}

Result<std::string> engine_version() {
  constexpr Seconds kAnswersWithin{
      60};  // loading what it is linked with takes a third of a second, much longer from a cold disk
  auto output = query_engine({"--version"}, {}, {.within = kAnswersWithin});
  if (!output) return output;
  if (!output->ends_with('\n'))
    return fail(Fault::device, "tutti-engine: printed no version", "Run it with --version to see why");
  output->pop_back();
  return output;
}

}  // namespace tutti
