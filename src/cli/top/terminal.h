#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "view/terminal_text.h"
#include "view/top/keys.h"

namespace tutti {

/// What happened while a terminal was waited for.
struct TerminalEvents {
  std::vector<Key> keys{};
  bool resized = false;      // or continued after a stop: everything must be painted again
  bool interrupted = false;  // SIGINT, SIGTERM or SIGHUP, or the terminal is gone
};

/// The terminal at standard input and output, taken over: keys one by one, an alternate screen, no cursor. The
/// destructor gives it back as it was. Construct it before any thread exists: it blocks the signals it waits for.
/// Ctrl+Z gives the terminal back while stopped.
class Terminal {
 public:
  static Result<Terminal> open();
  Terminal(Terminal&& other) noexcept = default;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  /// Columns and lines now.
  Screen size() const;
  /// Waits for keys and signals, at most `longest`.
  TerminalEvents wait(Seconds longest);
  /// Shows lines of exactly the screen's width; only those that changed are sent.
  void show(const std::vector<std::string>& lines);

 private:
  Terminal(OwnedFd signals, const termios& before) : signals_(std::move(signals)), before_(before) {}
  void take_over() const;
  void restore() const;
  void take_signal(TerminalEvents& events);
  void take_keys(TerminalEvents& events);

  OwnedFd signals_;
  termios before_{};
  KeyReader keys_;
  std::vector<std::string> shown_;
};

}  // namespace tutti
