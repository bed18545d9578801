#include "base/process/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr Seconds kLookEvery{0.1};  // at whether it goes on

using Instant = Clock::Instant;

enum class Read { whole, late, too_much, cancelled };

Read read_to_end(const OwnedFd& pipe, Instant until, const OutputLimits& limits, std::string& text) {
  for (;;) {
    if (limits.go_on && !limits.go_on()) return Read::cancelled;
    const Seconds whole = until - Clock::real().now();
    const Seconds left = limits.go_on ? std::min(whole, kLookEvery) : whole;
    pollfd waiting{.fd = pipe.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, std::max(0, static_cast<int>(left.count() * 1000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left < whole) continue;
    if (ready <= 0) return Read::late;
    if (text.size() > limits.bytes) return Read::too_much;
    char block[4096];
    const ssize_t got = ::read(pipe.get(), block, sizeof block);
    if (got == 0) return Read::whole;
    if (got > 0) text.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> child_output(ChildOptions options, const OutputLimits& limits) {
  const std::string program = options.command[0];
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(program, "no pipe to read from");
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  options.handed.emplace_back(theirs.get(), STDOUT_FILENO);
  options.streams = ChildStreams::errors;
  const auto child = TRY(Child::start(options));
  theirs = OwnedFd();
  const auto until = Clock::real().now() + std::chrono::duration_cast<Instant::duration>(limits.within);
  std::string text;
  const Read read = read_to_end(answer, until, limits, text);
  const bool is_whole = read == Read::whole;
  const ChildEnd& end = child->end(is_whole ? std::max(Seconds(0), Seconds(until - Clock::real().now())) : Seconds(0));
  if (end.status == 0 && end.signal == 0 && is_whole) return text;
  if (read == Read::cancelled) return fail(Fault::cancelled, program + " was cancelled");
  const auto line = text.substr(0, text.find('\n'));
  std::string how = end.words;
  if (read == Read::late) how = "was not done within " + number_text(limits.within.count()) + " s and was killed";
  if (read == Read::too_much) how = "wrote more than " + std::to_string(limits.bytes) + " bytes and was killed";
  return fail(Fault::device, program + " " + how + (line.empty() ? "" : ": " + line));
}

}  // namespace tutti
