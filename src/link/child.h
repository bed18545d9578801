#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"
#include "link/line_log.h"

namespace tutti {

/// A descriptor of process `pid`, readable for poll() once it has exited; empty when there is none.
OwnedFd open_pidfd(pid_t pid);

struct ChildOptions {
  std::string name{};                  // in front of its lines in our log, and in errors: "worker cuda:0"
  std::vector<std::string> command{};  // program (looked up in PATH when it has no slash) and arguments
  std::vector<std::pair<std::string, std::string>> environment{};  // added to ours, or replacing
  bool on_terminal = false;  // keep our standard streams and process group, as a debugger must; no output is captured
};

/// A child process that cannot outlive us: it is killed when the thread that started it ends (PR_SET_PDEATHSIG), and
/// killed and reaped with this object. It has its own process group, so that Ctrl+C at the terminal reaches us alone;
/// signal mask and dispositions are the default ones; of our descriptors it keeps kWorkerSocket only. What it writes to
/// standard output or error goes to our log. One thread at a time.
class Child {
 public:
  /// Must be called on a thread that lives at least as long as the child: the kernel kills the child when that thread,
  /// not our process, ends. Fault::missing when the program is not there.
  static Result<std::unique_ptr<Child>> start(const ChildOptions& options, OwnedFd socket);
  ~Child() { end(Seconds(0)); }

  pid_t pid() const { return pid_; }
  /// Readable for poll() once the child has exited.
  int pidfd() const { return pidfd_.get(); }

  /// Waits up to `grace` for the child to exit by itself, then kills its whole group; reaps it. Returns how it ended,
  /// in words: "was killed by signal 11 (Segmentation fault)". Idempotent.
  const std::string& end(Seconds grace);

  /// The last lines it wrote; complete after `end`.
  std::vector<std::string> last_lines() const;

 private:
  Child(pid_t pid, OwnedFd pidfd, bool own_group) : pid_(pid), pidfd_(std::move(pidfd)), own_group_(own_group) {}
  bool exited_within(Seconds time) const;
  void kill() const;
  std::string reap() const;

  pid_t pid_;
  OwnedFd pidfd_;
  bool own_group_;
  std::unique_ptr<LineLog> output_;
  std::string ended_;  // empty: not reaped yet
};

}  // namespace tutti
