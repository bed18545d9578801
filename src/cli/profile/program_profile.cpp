#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/log.h"
#include "base/numbers.h"
#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/profile/command_profile.h"
#include "profile/machine_watch.h"
#include "profile/outside_recorder.h"

namespace tutti {
namespace {

constexpr Seconds kGrace{60};        // for a stopped command to finish what it has begun
constexpr Seconds kProgramGrace{5};  // for any other program, twice
constexpr Seconds kShortest{0.2};    // of a program: shorter ones were hardly seen

bool ended_within(const Child& child, Seconds time) {
  pollfd ended{child.pidfd(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(std::min(time.count() * 1000, 2e9))) != 0;
}

/// Waits for a program's end, or stops it as Ctrl+C does, which not every program obeys. Its exit code; where it was
/// stopped so, that it ended by a signal counts as done.
int end_of_program(Child& child, const CommandProfile& profile) {
  if (profile.seconds <= 0 || ended_within(child, Seconds(profile.seconds))) return end_of(child, 0);
  const std::string& name = profile.command[0];
  signal_program(child.pid(), SIGINT);
  if (!ended_within(child, kProgramGrace)) {
    log(Level::warning, name + ": still runs " + fixed_text(kProgramGrace.count(), 0) + " s after SIGINT: SIGTERM");
    signal_program(child.pid(), SIGTERM);
  }
  if (!ended_within(child, kProgramGrace)) {
    log(Level::warning, name + ": still runs " + fixed_text(kProgramGrace.count(), 0) + " s after SIGTERM: SIGKILL");
    signal_program(child.pid(), SIGKILL);
  }
  const int code = end_of(child, 0);
  return code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGKILL ? static_cast<int>(kDone) : code;
}

}  // namespace

int end_of(Child& child, double seconds) {
  const bool was_stopped = seconds > 0 && !ended_within(child, Seconds(seconds));
  if (was_stopped) ::kill(child.pid(), SIGINT);
  const ChildEnd& end = child.end(was_stopped ? kGrace : Seconds(std::numeric_limits<std::int32_t>::max()));
  const int code = end.signal != 0 ? 128 + end.signal : end.status;
  return was_stopped && code == kInterrupted ? static_cast<int>(kDone) : code;
}

int profile_program(const CommandProfile& profile) {
  const MachineWatch machine;
  adopt_orphans();
  const auto child =
      Child::start({.name = profile.command[0], .command = profile.command, .streams = ChildStreams::terminal});
  if (!child) return complain(child.error());
  OutsideRecorder recorder((*child)->pid());
  const int code = end_of_program(**child, profile);
  OutsideRun run = recorder.stop();
  run.machine = machine.evidence();  // to which what still runs is another program
  if (run.elapsed.count() > 0)
    run.machine.other_cores = std::max(0.0, run.machine.other_cores - run.unwaited / run.elapsed);
  std::fflush(stdout);
  if (run.elapsed < kShortest) {
    const int nothing = complain({Fault::missing, profile.command[0] + ": it ended before it could be looked at",
                                  "Profile a run of a second or longer"},
                                 kNothingRan);
    return code == kDone ? nothing : code;
  }
  std::fputs((profile.json ? outside_json(run) + "\n" : outside_text(run)).c_str(), stderr);
  return code;
}

}  // namespace tutti
