#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/owned.h"

namespace tutti {

/// A program on a terminal of its own, and what that terminal shows: enough of one for what Tutti sends (cursor
/// addresses, clearing, colours, modes). Killed when the test forgets it.
class PseudoTerminal {
 public:
  PseudoTerminal(std::vector<std::string> words, unsigned short columns, unsigned short lines,
                 const std::vector<std::string>& settings = {}) {
    master_ = OwnedFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master_ || ::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0)
      throw std::runtime_error("no pseudo-terminal");
    set_size(columns, lines);
    const std::string name = ::ptsname(master_.get());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setsid();
    const int slave = ::open(name.c_str(), O_RDWR);
    ::ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; ++fd) ::dup2(slave, fd);
    for (const auto& setting : settings) ::putenv(::strdup(setting.c_str()));
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  /// The program is notified by SIGWINCH.
  void set_size(unsigned short columns, unsigned short lines) {
    const winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
    screen_.resize(lines);
  }
  void type(const std::string& keys) { (void)!::write(master_.get(), keys.data(), keys.size()); }

  /// Reads until the screen has `text` somewhere; false when the program ended without.
  bool shows(const std::string& text) {
    while (screen().find(text) == std::string::npos)
      if (!read_more()) return false;
    return true;
  }
  /// Reads until the screen no longer has `text`.
  bool hides(const std::string& text) {
    while (screen().find(text) != std::string::npos)
      if (!read_more()) return false;
    return true;
  }
  /// Reads until the program has sent `text`, behind what was found so before; false when it ended without.
  bool reports(const std::string& text) {
    for (;;) {
      const std::size_t at = sent_.find(text, output_);
      if (at != std::string::npos) {
        output_ = at + text.size();
        return true;
      }
      if (!read_more()) return false;
    }
  }
  /// Lines of the screen, without colours.
  std::string screen() const {
    std::string all;
    for (const auto& line : screen_) all += line + "\n";
    return all;
  }
  const std::string& sent() const { return sent_; }
  bool echoes() const {
    termios modes{};
    ::tcgetattr(master_.get(), &modes);
    return modes.c_lflag & ECHO;
  }
  /// The exit code, when it has ended; 128 + the signal's number.
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  bool read_more() {
    char block[4096];
    const ssize_t got = ::read(master_.get(), block, sizeof block);  // EIO: the program is gone
    if (got <= 0) return false;
    sent_.append(block, static_cast<std::size_t>(got));
    pending_.append(block, static_cast<std::size_t>(got));
    while (take_one()) {
    }
    return true;
  }
  /// Applies a sequence or a run of text; false: more is needed.
  bool take_one() {
    if (pending_.empty()) return false;
    if (pending_[0] != '\x1b') {
      const std::size_t end = std::min(pending_.find('\x1b'), pending_.size());
      if (row_ < screen_.size()) screen_[row_] += pending_.substr(0, end);
      pending_.erase(0, end);
      return true;
    }
    std::size_t end = 2;
    while (end < pending_.size() && !(pending_[end] >= '@' && pending_[end] <= '~')) ++end;
    if (end >= pending_.size()) return false;
    apply(pending_.substr(2, end - 2), pending_[end]);
    pending_.erase(0, end + 1);
    return true;
  }
  void apply(const std::string& numbers, char what) {
    if (what == 'H') {
      row_ = static_cast<std::size_t>(std::atoi(numbers.c_str())) - 1;
      if (row_ < screen_.size()) screen_[row_].clear();  // lines come whole
    } else if (what == 'J') {
      for (auto& line : screen_) line.clear();
    }
  }

  pid_t pid_ = -1;
  OwnedFd master_;
  std::string sent_;
  std::size_t output_ = 0;  // of `sent_`, that was found
  std::string pending_;
  std::vector<std::string> screen_;
  std::size_t row_ = 0;
};

}  // namespace tutti
