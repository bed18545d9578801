#include "cli/top/terminal.h"

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "view/top/top_screen.h"

namespace tutti {
namespace {

constexpr int kSequenceMs = 50;  // the parts of one key arrive within that, also over a slow line

// Alternate screen, no cursor, no line wrap at the last column; and back.
constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kGive = "\x1b[?7h\x1b[?25h\x1b[?1049l";

void send(std::string_view text) {
  // A terminal that went away is noticed when it is read from.
  (void)write_all(STDOUT_FILENO, std::as_bytes(std::span(text)), "the terminal");
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Result<Terminal> Terminal::open() {
  termios before{};
  if (!::isatty(STDOUT_FILENO) || ::tcgetattr(STDIN_FILENO, &before) != 0)
    return fail(Fault::usage, "standard input and output are no terminal", "Use --once or --json");
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  OwnedFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail_errno("the terminal", "its signals cannot be watched");
  Terminal terminal(std::move(signals), before);
  terminal.take_over();
  return terminal;
}

Terminal::~Terminal() {
  if (signals_) restore();
}

void Terminal::take_over() const {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl+C and Ctrl+Z are signals
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  send(kTake);
}

void Terminal::restore() const {
  send(kGive);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .lines = size.ws_row};
}

void Terminal::take_signal(TerminalEvents& events) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    switch (info.ssi_signo) {
      case SIGTSTP:
        restore();
        ::kill(::getpid(), SIGSTOP);  // goes on behind this line when we are continued
        [[fallthrough]];
      case SIGCONT: take_over(); [[fallthrough]];
      case SIGWINCH:
        shown_.clear();  // all of it is painted again
        events.resized = true;
        break;
      default: events.interrupted = true;
    }
  }
}

void Terminal::take_keys(TerminalEvents& events) {
  std::array<char, 512> block;
  const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
  if (got <= 0) {
    events.interrupted = true;  // poll reported an event: it is the end
    return;
  }
  for (Key& key : keys_.read({block.data(), static_cast<std::size_t>(got)})) events.keys.push_back(std::move(key));
}

TerminalEvents Terminal::wait(Seconds longest) {
  TerminalEvents events;
  std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
  const int patience = static_cast<int>(std::clamp(longest.count() * 1000, 0.0, 60'000.0));
  const int limit = keys_.waiting() ? std::min(patience, kSequenceMs) : patience;
  const int ready = ::poll(watched.data(), watched.size(), limit);
  if (ready == 0 && keys_.waiting()) events.keys = keys_.settle();
  if (ready <= 0) return events;
  if (watched[1].revents) take_signal(events);
  if (watched[0].revents) take_keys(events);
  return events;
}

void Terminal::show(const std::vector<std::string>& lines) {
  const std::string changes = repaint(shown_, lines);
  if (!changes.empty()) send(changes);
  shown_ = lines;
}

}  // namespace tutti
