#include "base/process/line_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace tutti {

Result<std::unique_ptr<LineLog>> LineLog::start(OwnedFd pipe, std::string prefix) {
  OwnedFd finished(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const bool ready = finished && ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK) == 0;
  if (!ready) return fail_errno(prefix, "its output could not be read");
  return std::unique_ptr<LineLog>(new LineLog(std::move(pipe), std::move(finished), std::move(prefix)));
}

LineLog::LineLog(OwnedFd pipe, OwnedFd finished, std::string prefix)
    : pipe_(std::move(pipe)), finished_(std::move(finished)), prefix_(std::move(prefix)), thread_([this] { run(); }) {}

void LineLog::finish() {
  if (!thread_.joinable()) return;
  ::eventfd_write(finished_.get(), 1);
  thread_.join();
}

std::vector<std::string> LineLog::last() const {
  return last_.with([](const auto& lines) { return std::vector<std::string>(lines.begin(), lines.end()); });
}

void LineLog::run() {
  std::string line;
  for (bool open = true; open;) {
    pollfd waiting[2] = {{.fd = pipe_.get(), .events = POLLIN, .revents = 0},
                         {.fd = finished_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(waiting, 2, -1) < 0) continue;
    // Finished means: take what is there and go. Without it we go when the last writer has.
    open = read_block(line) && waiting[1].revents == 0;
    while (!open && read_block(line)) continue;
  }
  if (!line.empty()) pass_on(std::move(line));
}

// One block from the pipe, cut into lines. False: nothing is there, or nothing will ever be.
bool LineLog::read_block(std::string& line) {
  char block[4096];
  const ssize_t got = ::read(pipe_.get(), block, sizeof block);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  for (const char c : std::string_view(block, static_cast<std::size_t>(got))) {
    if (c != '\n') line += c;
    if (c == '\n' || line.size() == kLongest) pass_on(std::exchange(line, {}));
  }
  return true;
}

void LineLog::pass_on(std::string line) {
  const LoggedLine parsed = read_log_line(line);
  log(parsed.level, prefix_ + ": " + std::string(parsed.text));
  last_.with([&](auto& lines) {
    lines.push_back(std::move(line));
    if (lines.size() > kKept) lines.pop_front();
  });
}

}  // namespace tutti
