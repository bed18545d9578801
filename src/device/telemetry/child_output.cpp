#include "device/telemetry/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"

namespace tutti {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;

/// False when the end did not come in time.
bool read_to_end(const OwnedFd& pipe, Seconds longest, std::string& text) {
  const Clock& clock = Clock::real();
  const auto end = clock.now() + std::chrono::duration_cast<Clock::Instant::duration>(longest);
  for (;;) {
    const Seconds left = end - clock.now();
    pollfd ready{.fd = pipe.get(), .events = POLLIN, .revents = 0};
    const int got = ::poll(&ready, 1, std::max(0, static_cast<int>(left.count() * 1000)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() > kMostOutput) return false;
    char block[4096];
    const ssize_t size = ::read(pipe.get(), block, sizeof block);
    if (size == 0) return true;
    if (size > 0) text.append(block, static_cast<std::size_t>(size));
  }
}

}  // namespace

Result<std::string> child_output(const std::vector<std::string>& command, Seconds longest) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(system_error(command[0], "no pipe to read from", errno));
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  auto child = Child::start({.name = command[0],
                             .command = command,
                             .handed = {{theirs.get(), STDOUT_FILENO}},
                             .streams = ChildStreams::errors});
  if (!child) return tl::unexpected(child.error());
  theirs = OwnedFd();
  std::string text;
  const bool in_time = read_to_end(answer, longest, text);
  const ChildEnd& end = (*child)->end(in_time ? longest : Seconds(0));
  if (!in_time)
    return fail(Fault::device,
                command[0] + ": no answer within " + std::to_string(static_cast<int>(longest.count())) + " s");
  if (end.status != 0 || end.signal != 0) {
    const auto line = text.substr(0, text.find('\n'));
    return fail(Fault::device, command[0] + " " + end.words + (line.empty() ? "" : ": " + line));
  }
  return text;
}

}  // namespace tutti
