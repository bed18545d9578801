#include "cli/version.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "base/build_id.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "cli/commands.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// Starts `words` with its standard output in a pipe; the reading end.
Result<OwnedFd> start_with_pipe(std::vector<std::string> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(system_error(words[0], "no pipe to read from", errno));
  OwnedFd reading(ends[0]);
  const OwnedFd writing(ends[1]);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return tl::unexpected(system_error(words[0], "could not be started", failed));
  return reading;  // the child ends by itself, and with us
}

}  // namespace

Result<std::string> engine_version() {
  const auto command = engine_command(EngineSettings::of_this_process(), {"--version"});
  if (!command) return tl::unexpected(command.error());
  const auto answer = start_with_pipe(command->words);
  if (!answer) return tl::unexpected(answer.error());
  std::string said;
  char block[256];
  for (ssize_t got = 0; (got = ::read(answer->get(), block, sizeof block)) > 0;)
    said.append(block, static_cast<std::size_t>(got));
  if (!said.ends_with('\n'))
    return fail(Fault::device, command->words[0] + ": said no version", "Run it with --version to see why");
  said.pop_back();
  return said;
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
