#pragma once

#include <string>
#include <vector>

namespace tutti {

/// Arguments after the command's name; returns the exit code (base/process/exit_code.h).
using RunCommand = int (*)(const std::vector<std::string>& arguments);

struct Command {
  std::string name;
  std::string summary;  // one line for `tutti --help`
  RunCommand run;
};

/// The command table, in the order of the help.
const std::vector<Command>& commands();
std::vector<std::string> command_names();

/// `tutti ARGUMENT...`: finds the command and runs it; --help and --version.
int run_tutti(const std::vector<std::string>& arguments);

}  // namespace tutti
