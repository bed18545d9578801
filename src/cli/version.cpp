#include "cli/version.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/build_id.h"
#include "base/child.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "cli/commands.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// All that `fd` gives until its end.
std::string read_all(const OwnedFd& fd) {
  std::string said;
  char block[256];
  for (ssize_t got = 0; (got = ::read(fd.get(), block, sizeof block)) > 0;)
    said.append(block, static_cast<std::size_t>(got));
  return said;
}

}  // namespace

Result<std::string> engine_version() {
  const auto command = engine_command(EngineSettings::of_this_process(), {"--version"});
  if (!command) return tl::unexpected(command.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return tl::unexpected(system_error(command->words[0], "no pipe to read from", errno));
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  const auto child = Child::start({.name = "tutti-engine",
                                   .command = command->words,
                                   .handed = {{theirs.get(), STDOUT_FILENO}},
                                   .streams = ChildStreams::errors});
  if (!child) return tl::unexpected(child.error());
  theirs = OwnedFd();
  std::string said = read_all(answer);
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
