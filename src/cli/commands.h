#pragma once

#include <string>
#include <vector>

namespace tutti {

/// Exit codes, the same for every command.
enum ExitCode : int {
  kDone = 0,
  kUsage = 2,          // the command line cannot be meant
  kSomeFailed = 3,     // some files failed, the others are done
  kNothingRan = 4,     // nothing could run at all
  kInterrupted = 130,  // SIGINT or SIGTERM
};

/// Arguments after the command's name; returns the exit code.
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
