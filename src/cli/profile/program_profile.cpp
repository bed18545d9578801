#include <signal.h>

#include <algorithm>
#include <cstdio>

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

constexpr Seconds kAlways{1e9};

/// How it ended, once that is waited for.
int code_of(Child& child) {
  const ChildEnd& end = child.end(Seconds(0));
  return end.signal != 0 ? 128 + end.signal : end.status;
}

/// Waits for a program's end, or stops it as Ctrl+C does, which not every program obeys. Its exit code; where it was
/// stopped so, that it ended by a signal counts as done.
int end_of_program(Child& child, ChildWatch& watch, const CommandProfile& profile) {
  if (profile.seconds <= 0 || watch.ended_within(Seconds(profile.seconds))) return end_of(child, watch, 0);
  const std::string& name = profile.command[0];
  watch.send(SIGINT);
  if (!watch.ended_within(kProgramGrace)) {
    log(Level::warning, name + ": still runs " + fixed_text(kProgramGrace.count(), 0) + " s after SIGINT: SIGTERM");
    watch.send(SIGTERM);
  }
  if (!watch.ended_within(kProgramGrace)) {
    log(Level::warning, name + ": still runs " + fixed_text(kProgramGrace.count(), 0) + " s after SIGTERM: SIGKILL");
    watch.send(SIGKILL);
  }
  const int code = end_of(child, watch, 0);
  return code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGKILL ? static_cast<int>(kDone) : code;
}

}  // namespace

int end_of(Child& child, ChildWatch& watch, double seconds) {
  const bool was_stopped = !watch.ended_within(seconds > 0 ? Seconds(seconds) : kAlways);
  if (was_stopped) {
    watch.send(SIGINT);
    watch.ended_within(kGrace);
  }
  const int code = code_of(child);
  if (watch.was_interrupted(was_stopped ? kDone : code)) return kInterrupted;
  return was_stopped && code == kInterrupted ? static_cast<int>(kDone) : code;
}

int profile_program(const CommandProfile& profile) {
  const ReceivedSignals signals;  // before any thread
  const MachineWatch machine;
  adopt_orphans();
  const auto child =
      Child::start({.name = profile.command[0], .command = profile.command, .streams = ChildStreams::terminal});
  if (!child) return complain(child.error());
  OutsideRecorder recorder((*child)->pid());
  ChildWatch watch(**child, signals, /*shares_group=*/true,
                   [&](int signal) { signal_program((*child)->pid(), signal); });
  const int code = end_of_program(**child, watch, profile);
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
