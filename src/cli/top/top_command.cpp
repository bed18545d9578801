#include "cli/top/top_command.h"

#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/top/source.h"
#include "cli/top/terminal.h"
#include "view/progress.h"
#include "view/terminal_settings.h"
#include "view/top/top_screen.h"

namespace tutti {
namespace {

struct TopCommand {
  bool once = false;
  bool json = false;
  bool ascii = false;
  double interval = 1;
};

void dress(Screen& screen, const TopCommand& command) {
  screen.ascii = command.ascii || !is_utf8_locale();
  screen.colour = wants_colour();
}

int print_once(const TopCommand& command) {
  const auto data = top_source()->look();
  if (!data) return complain(data.error(), kNothingRan);
  if (command.json) {
    std::puts(top_json(*data).c_str());
    return kDone;
  }
  Screen screen{.columns = LiveLines(STDOUT_FILENO).width()};
  dress(screen, command);
  screen.colour = screen.colour && ::isatty(STDOUT_FILENO);
  for (std::string line : top_report(*data, screen)) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
  return kDone;
}

/// One person in front of one terminal.
class TopSession {
 public:
  TopSession(Terminal& terminal, TopSource& source, const TopCommand& command)
      : terminal_(terminal), source_(source), command_(command) {
    state_.interval = Seconds(command.interval);
  }

  int run() {
    look();
    for (;;) {
      paint();
      const Seconds due = state_.paused ? Seconds(60) : Seconds(state_.interval - (Clock::real().now() - looked_));
      const TerminalEvents events = terminal_.wait(due);
      if (events.interrupted) return kInterrupted;
      for (const Key& key : events.keys) take(key);
      if (state_.quit) return kDone;
      if (!state_.paused && Clock::real().now() - looked_ >= state_.interval) look();
    }
  }

 private:
  void look() {
    looked_ = Clock::real().now();
    if (auto data = source_.look())
      data_ = std::move(*data);
    else
      state_.message = data.error().text();
  }
  void take(const Key& key) {
    const auto action = press(state_, key, data_);
    if (!action) return;
    const auto done = source_.act(*action);
    state_.message = done ? *done : done.error().text();
  }
  void paint() {
    Screen screen = terminal_.size();
    dress(screen, command_);
    terminal_.show(render_top(data_, state_, screen));
  }

  Terminal& terminal_;
  TopSource& source_;
  const TopCommand& command_;
  TopState state_;
  TopData data_;
  Clock::Instant looked_{};
};

}  // namespace

int run_top(const std::vector<std::string>& arguments) {
  TopCommand command;
  OptionTable table("top",
                    "A running batch, or this machine's devices, live in the terminal. Press ? there for the keys.");
  table.add_switch("once", command.once, "print it once, in full, and leave");
  table.add_switch("json", command.json, "print it once as one line of JSON: numbers typed, units in the names");
  table.add_switch("ascii", command.ascii, "no character outside ASCII; so it is where the locale is not UTF-8");
  table.add("interval", command.interval, "S", "seconds between looks; + and - change it");
  table.examples({"tutti top", "tutti top --once"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (!(command.interval >= 0.1 && command.interval <= 3600))
    return complain({Fault::usage, "--interval: expected 0.1 to 3600 seconds, found " + show_value(command.interval)},
                    kUsage);
  if (command.once || command.json) return print_once(command);
  auto terminal = Terminal::open();
  if (!terminal) return complain(terminal.error(), kUsage);
  const auto source = top_source();
  return TopSession(*terminal, *source, command).run();
}

}  // namespace tutti
