#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/profile/command_profile.h"
#include "profile/machine_watch.h"
#include "profile/outside_recorder.h"

namespace tutti {
namespace {

constexpr Seconds kGrace{60};      // for a stopped command to finish what it has begun
constexpr Seconds kShortest{0.2};  // of a program: shorter ones were hardly seen

bool stopped_after(const Child& child, double seconds) {
  if (seconds <= 0) return false;
  pollfd ended{child.pidfd(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(std::min(seconds * 1000, 2e9))) != 0) return false;
  ::kill(child.pid(), SIGINT);
  return true;
}

}  // namespace

int end_of(Child& child, double seconds) {
  const bool was_stopped = stopped_after(child, seconds);
  const ChildEnd& end = child.end(was_stopped ? kGrace : Seconds(std::numeric_limits<std::int32_t>::max()));
  const int code = end.signal != 0 ? 128 + end.signal : end.status;
  return was_stopped && code == kInterrupted ? static_cast<int>(kDone) : code;
}

int profile_program(const CommandProfile& profile) {
  const MachineWatch machine;
  const auto child =
      Child::start({.name = profile.command[0], .command = profile.command, .streams = ChildStreams::terminal});
  if (!child) return complain(child.error());
  OutsideRecorder recorder((*child)->pid());
  const int code = end_of(**child, profile.seconds);
  OutsideRun run = recorder.stop();
  run.machine = machine.evidence();
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
