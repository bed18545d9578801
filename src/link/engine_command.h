#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// How to start the engine.
struct EngineCommand {
  std::vector<std::string> words;  // program and arguments
  bool wrapped = false;            // under a debugger or the like: it keeps our terminal, and nothing is timed
  std::vector<std::pair<std::string, std::string>> environment{};  // what it needs beside ours
};

/// `words` split as a shell would at blanks, with 'single' and "double" quotes and backslashes, and nothing else of a
/// shell. Fault::usage for a quote that is never closed.
Result<std::vector<std::string>> split_words(std::string_view words);

/// The engine's settings in the environment; empty fields: unset.
struct EngineSettings {
  std::string engine{};                // TUTTI_ENGINE: path of the executable
  std::string wrapper{};               // TUTTI_ENGINE_WRAPPER: "gdb --args"
  std::filesystem::path own_folder{};  // this program's folder
  bool threads_set_by_user = false;    // OMP_WAIT_POLICY or GOMP_SPINCOUNT: how its threads wait for each other

  static EngineSettings of_this_process();
};

/// The command that runs `tutti-engine` with `arguments`. Fault::missing names where it was looked for.
Result<EngineCommand> engine_command(const EngineSettings& settings, const std::vector<std::string>& arguments);

}  // namespace tutti
