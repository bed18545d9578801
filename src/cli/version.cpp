#include "cli/version.h"

#include <cstdio>
#include <string>

#include "base/build_id.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "link/query_engine.h"

namespace tutti {
namespace {

// Loading what it is linked with takes a third of a second, much longer from a cold disk.
constexpr Seconds kAnswersWithin{60};

}  // namespace

Result<std::string> engine_version() {
  auto output = query_engine({"--version"}, {}, {.within = kAnswersWithin});
  if (!output) return output;
  if (!output->ends_with('\n'))
    return fail(Fault::device, "tutti-engine: printed no version", "Run it with --version to see why");
  output->pop_back();
  return output;
}

int print_versions() {
  std::printf("tutti %s\n", std::string(build_id()).c_str());
  const auto engine = engine_version();
  if (!engine) {
    log(Level::warning, engine.error().text());
    return kNothingRan;
  }
  std::printf("%s\n", engine->c_str());
  if (*engine == "tutti-engine " + std::string(build_id())) return kDone;
  log(Level::warning, "the engine is of another build; build or install both together");
  return kNothingRan;
}

}  // namespace tutti
