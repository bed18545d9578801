#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>

#include "base/clock.h"
#include "base/owned.h"
#include "cli/display/run_display.h"

using namespace tutti;

namespace {

/// Standard error as a terminal after Ctrl+S: a write to it blocks until `close`.
class HeldUpTerminal {
 public:
  HeldUpTerminal() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reader_ = OwnedFd(ends[0]);
    const OwnedFd writer(ends[1]);
    constexpr std::array<char, 4096> kBlock{};
    while (::write(writer.get(), kBlock.data(), kBlock.size()) > 0) continue;
    ::fcntl(writer.get(), F_SETFL, 0);  // from here on writing waits
    before_ = OwnedFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    ::dup2(writer.get(), STDERR_FILENO);
  }
  ~HeldUpTerminal() {
    close();
    ::dup2(before_.get(), STDERR_FILENO);
    ::signal(SIGPIPE, on_pipe_);
  }
  HeldUpTerminal(const HeldUpTerminal&) = delete;
  HeldUpTerminal& operator=(const HeldUpTerminal&) = delete;

  /// Its window is closed: writing fails.
  void close() { reader_ = OwnedFd(); }

 private:
  sighandler_t on_pipe_ = ::signal(SIGPIPE, SIG_IGN);
  OwnedFd reader_;
  OwnedFd before_;
};

}  // namespace

TEST(LiveDisplay, BlockedTerminalDoesNotBlockProgressReports) {
  const std::vector<PlannedFile> files{{.input = "talk.mp3", .outputs = {}}};
  HeldUpTerminal terminal;
  const auto display = make_live_display(files);  // paints at once, and waits for the terminal
  auto reported = std::async(std::launch::async, [&] {
    const auto until = Clock::real().now() + std::chrono::milliseconds(500);
    while (Clock::real().now() < until) display->on_progress(0, Seconds(1), {});
  });
  EXPECT_EQ(reported.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  terminal.close();
}
