#include "link/ask_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/owned.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// What `fd` gives until its end, or until then.
std::string read_until(const OwnedFd& fd, Clock::Instant end) {
  std::string said;
  char block[256];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::real().now()).count();
    pollfd waiting{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return said;
    const auto got = ::read(fd.get(), block, sizeof block);
    if (got <= 0) return said;
    said.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> ask_engine(const std::vector<std::string>& arguments,
                               const std::vector<std::pair<std::string, std::string>>& environment, Seconds within) {
  const auto command = engine_command(EngineSettings::of_this_process(), arguments);
  if (!command) return tl::unexpected(command.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return tl::unexpected(system_error(command->words[0], "no pipe to read from", errno));
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  const auto child = Child::start({.name = "tutti-engine",
                                   .command = command->words,
                                   .environment = environment,
                                   .handed = {{theirs.get(), STDOUT_FILENO}},
                                   .streams = ChildStreams::errors});
  if (!child) return tl::unexpected(child.error());
  theirs = OwnedFd();
  const auto until = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(within);
  auto said = read_until(answer, until);
  const auto left = std::max(Seconds(0), Seconds(until - Clock::real().now()));
  if (const auto& end = (*child)->end(left); end.status != 0 || end.signal != 0)
    return fail(Fault::device, command->words[0] + " " + (arguments.empty() ? "" : arguments[0]) + " " + end.words,
                "Run it by hand to see why");
  return said;
}

}  // namespace tutti
