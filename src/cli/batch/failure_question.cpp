#include "cli/batch/failure_question.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "base/log.h"
#include "base/strings.h"

namespace tutti {
namespace {

using Action = BatchObserver::Action;

constexpr int kLookMs = 200;  // between looks at the stop signal

bool is_in_background() {
  const pid_t front = ::tcgetpgrp(STDIN_FILENO);
  return front >= 0 && front != ::getpgrp();
}

/// A terminal gives a line at a time. None: its input has ended, or the run is interrupted.
std::optional<std::string> line_typed(const StopSignal& stop) {
  pollfd keyboard{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (!stop.raised()) {
    if (::poll(&keyboard, 1, kLookMs) <= 0) continue;
    char typed[4096];
    const ssize_t got = ::read(STDIN_FILENO, typed, sizeof typed);
    return got > 0 ? std::optional(std::string(typed, static_cast<std::size_t>(got))) : std::nullopt;
  }
  return {};
}

class FailureQuestion {
 public:
  FailureQuestion(LiveTable& table, const StopSignal& stop) : table_(table), stop_(stop) {}

  Action operator()(const std::string& name) {
    if (stop_.raised()) return Action::stop;
    if (over_ || is_in_background()) return Action::go_on;
    ::tcflush(STDIN_FILENO, TCIFLUSH);  // what was typed before is no answer
    for (;;) {
      const auto typed = answer_to(without_controls(name) + " failed. [g]o on, [r]etry, [s]top? ");
      if (!typed) return no_answer();
      const auto action = parse_action(*typed);
      over_ = action == Action::stop;
      if (action) return *action;
    }
  }

 private:
  std::optional<std::string> answer_to(const std::string& question) {
    std::optional<std::string> typed;
    table_.alone([&] {
      std::fputs(question.c_str(), stderr);
      typed = line_typed(stop_);
      if (!typed) std::fputs("\n", stderr);  // Enter was not pressed
    });
    return typed;
  }

  Action no_answer() {
    if (stop_.raised()) return Action::stop;
    over_ = true;
    log(Level::warning, "the terminal's input has ended: the run goes on, and asks no more");
    return Action::go_on;
  }

  LiveTable& table_;
  const StopSignal& stop_;
  bool over_ = false;
};

}  // namespace

std::optional<Action> parse_action(const std::string& answer) {
  const std::string word = ascii_lower(trimmed(answer));
  if (word.empty() || word == "g" || word == "go" || word == "go on") return Action::go_on;
  if (word == "r" || word == "retry") return Action::retry;
  if (word == "s" || word == "stop") return Action::stop;
  return {};
}

BatchLog::FailurePrompt failure_question(LiveTable& table, const StopSignal& stop) {
  return FailureQuestion(table, stop);
}

}  // namespace tutti
