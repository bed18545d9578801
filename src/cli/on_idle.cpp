#include "cli/on_idle.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/log.h"

namespace tutti {
namespace {

std::string end_text(int status) {
  if (status == -1) return "could not be started: " + std::generic_category().message(errno);
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "failed with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void add_on_idle(OptionTable& table, std::string& command) {
  table.add("on-idle", command, "CMD",
            "a shell command that runs after such an end, as in 'sudo shutdown -h +1'; not after a signal or an error");
}

void run_on_idle(const std::string& command) {
  if (command.empty()) return;
  log(Level::info, "idle: running " + command);
  std::fflush(nullptr);
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): no other thread is left
  if (status != 0) log(Level::error, "--on-idle: the command " + end_text(status));
}

}  // namespace tutti
