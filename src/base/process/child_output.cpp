#include "base/process/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;

using Instant = Clock::Instant;

enum class Read { whole, late, too_much };

Read read_to_end(const OwnedFd& pipe, Instant until, std::string& text) {
  for (;;) {
    const Seconds left = until - Clock::real().now();
    pollfd waiting{.fd = pipe.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, std::max(0, static_cast<int>(left.count() * 1000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Read::late;
    if (text.size() > kMostOutput) return Read::too_much;
    char block[4096];
    const ssize_t got = ::read(pipe.get(), block, sizeof block);
    if (got == 0) return Read::whole;
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> child_output(ChildOptions options, Seconds within) {
  const std::string program = options.command[0];
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(program, "no pipe to read from");
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  options.handed.emplace_back(theirs.get(), STDOUT_FILENO);
  options.streams = ChildStreams::errors;
  const auto child = Child::start(options);
  if (!child) return tl::unexpected(child.error());
  theirs = OwnedFd();
  const auto until = Clock::real().now() + std::chrono::duration_cast<Instant::duration>(within);
  std::string text;
  const Read read = read_to_end(answer, until, text);
  const bool is_whole = read == Read::whole;
  const ChildEnd& end =
      (*child)->end(is_whole ? std::max(Seconds(0), Seconds(until - Clock::real().now())) : Seconds(0));
  if (end.status == 0 && end.signal == 0 && is_whole) return text;
  const auto line = text.substr(0, text.find('\n'));
  std::string how = end.words;
  if (read == Read::late) how = "was not done within " + number_text(within.count()) + " s and was killed";
  if (read == Read::too_much) how = "wrote more than 1 MiB and was killed";
  return fail(Fault::device, program + " " + how + (line.empty() ? "" : ": " + line));
}

}  // namespace tutti
