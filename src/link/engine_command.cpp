#include "link/engine_command.h"

#include <unistd.h>

#include <cstdlib>

#include "base/environment.h"
#include "base/program_paths.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view words) {
  std::vector<std::string> found;
  bool inside = false;  // within a word: an empty pair of quotes is one, too
  char quote = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (quote == 0 && is_blank(c)) {
      inside = false;
      continue;
    }
    if (!inside) found.emplace_back();
    inside = true;
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < words.size();
    if (escapes) {
      found.back() += words[++i];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      found.back() += c;
    }
  }
  if (quote != 0) return fail(Fault::usage, std::string(words) + ": expected a closing " + quote + ", found none");
  return found;
}

EngineSettings EngineSettings::of_this_process() {
  return {.engine = variable(own_variables::kEngine).value_or(""),
          .wrapper = variable(own_variables::kEngineWrapper).value_or(""),
          .own_folder = program_paths().self.parent_path(),
          .threads_set_by_user = variable("OMP_WAIT_POLICY") || variable("GOMP_SPINCOUNT")};
}

Result<EngineCommand> engine_command(const EngineSettings& settings, const std::vector<std::string>& arguments) {
  const bool named = !settings.engine.empty();
  const fs::path engine = named ? fs::path(settings.engine) : settings.own_folder / "tutti-engine";
  if (::access(engine.c_str(), X_OK) != 0 || !fs::is_regular_file(engine))
    return fail(Fault::missing,
                "tutti-engine: no executable at " + engine.string() + (named ? " (TUTTI_ENGINE)" : " (beside tutti)"),
                named ? "Correct or unset TUTTI_ENGINE" : "Set TUTTI_ENGINE to its path, or install both together");
  auto words = split_words(settings.wrapper);
  if (!words) return fail_in(own_variables::kEngineWrapper, std::move(words.error()));
  EngineCommand command{.words = std::move(*words)};
  command.wrapped = !command.words.empty();
  command.words.push_back(engine.string());
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  // Torch's threads wait for each other at the end of every operator, spinning at first. As soon as another program
  // wants a core they starve each other, and the more so the longer they spin; a pause takes 4 to 140 cycles. A
  // thousand of them cost nothing on a quiet machine; not spinning at all costs a sixth of the speed.
  if (!settings.threads_set_by_user) command.environment.emplace_back("GOMP_SPINCOUNT", "1000");
  return command;
}

}  // namespace tutti
