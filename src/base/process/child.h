#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/process/line_log.h"
#include "base/units.h"

namespace tutti {

/// A descriptor of process `pid`, readable for poll() once it has exited; empty when there is none.
OwnedFd open_pidfd(pid_t pid);

/// Where a child's standard streams lead.
enum class ChildStreams {
  logged,   // input is empty; output and errors go to our log, line by line
  errors,   // input is empty, output is dropped, errors are ours
  terminal  // all three are ours, and so is the process group, as a debugger needs it
};

struct ChildOptions {
  std::string name{};                  // in front of its lines in our log, and in errors: "worker cuda:0"
  std::vector<std::string> command{};  // program (looked up in PATH when it has no slash) and arguments
  std::vector<std::pair<std::string, std::string>> environment{};  // added to ours, or replacing
  std::vector<std::pair<int, int>>
      handed{};               // our descriptors, borrowed, and the numbers (below 10) it sees them under
  std::optional<int> core{};  // the one it may run on; none: all of ours
  ChildStreams streams = ChildStreams::logged;
};

/// How a child ended.
struct ChildEnd {
  int status = 0;       // its exit status; -1: unknown, `words` are why
  int signal = 0;       // or what killed it; 0: it exited
  std::string words{};  // "exited with status 3", "was killed by signal 11 (Segmentation fault)"
};

/// A child process that cannot outlive us: it is killed when the thread that started it ends (PR_SET_PDEATHSIG), and
/// killed and reaped with this object. It has its own process group, so that Ctrl+C at the terminal reaches us alone;
/// signal mask and dispositions are the default ones; of our descriptors it has those that it is handed. One thread at
/// a time.
class Child {
 public:
  /// Must be called on a thread that runs at least as long as the child: the kernel kills the child when that thread,
  /// not our process, ends. Fault::missing when the program is not there, Fault::refused where this
  /// process ignores SIGCHLD (base/process/process_setup.h).
  static Result<std::unique_ptr<Child>> start(const ChildOptions& options);
  ~Child() { end(Seconds(0)); }

  pid_t pid() const { return pid_; }
  /// Readable for poll() once the child has exited.
  int pidfd() const { return pidfd_.get(); }

  /// Waits up to `grace` for the child to exit by itself, then kills its whole group; reaps it. Idempotent.
  const ChildEnd& end(Seconds grace);

  /// The last lines it wrote where its streams are logged; complete after `end`.
  std::vector<std::string> last_lines() const;

 private:
  Child(pid_t pid, OwnedFd pidfd, bool own_group) : pid_(pid), pidfd_(std::move(pidfd)), own_group_(own_group) {}
  bool exited_within(Seconds time) const;
  void kill() const;
  ChildEnd reap() const;

  pid_t pid_;
  OwnedFd pidfd_;
  bool own_group_;
  std::unique_ptr<LineLog> output_;
  ChildEnd ended_;  // without words: not reaped yet
};

}  // namespace tutti
