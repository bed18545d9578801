#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "base/process/child.h"
#include "link/connection.h"
#include "link/engine_command.h"
#include "link/session.h"
#include "link/window_table.h"

namespace tutti {

struct WorkerOptions {
  std::string name = "worker";  // in front of its log lines and in errors: "worker cuda:0"
  EngineCommand command;        // what to run; see engine_command()
  std::string device_uuid{};    // the one device the worker may see and must report; empty: none (a CPU worker)
  std::optional<int> core{};    // the one it may run on; none: all of ours
  std::string build_id;         // which the worker must share
  bool is_other = false;        // another engine than ours, whose name and version `build_id` is
  LoadModel model{};
  Seconds load_limit{600};  // from start to Ready
  HeartbeatLimits heartbeat{};
};

/// What a process leaves behind, for an error: its number, how it exited where that was its own doing (`leaving`), and
/// what it wrote last.
std::string evidence_of(const Child& child, bool leaving, const std::string& how);

/// What callers and the supervising thread share.
struct WorkerState {
  WindowTable table;
  std::optional<Ready> ready;             // what it reported when it got ready
  std::optional<int> process;             // while it is there
  std::optional<Error> ended;             // there is none any more, and why
  bool ended_unclearly = false;           // Ending::unclear
  std::optional<Clock::Instant> stop_at;  // stopping: what is in flight has until then
};

/// Starts one worker process and connects it with the WorkerState until it ends. `run` is one thread, the only one that
/// starts the process, sends and receives; it blocks on the connection, the process and `wake` together.
class Supervisor {
 public:
  /// `wake`: an eventfd, written when the state has changed. All three must outlive this.
  Supervisor(const WorkerOptions& options, Guarded<WorkerState>& state, int wake)
      : options_(options), state_(state), wake_(wake) {}

  /// Until the worker ends or is stopped.
  void run();

 private:
  struct WorkerProcess;  // one worker process

  Result<std::unique_ptr<Child>> start(OwnedFd socket) const;
  Ending live();
  Ending serve_connection(WorkerProcess& process);
  std::optional<Ending> drain_messages(WorkerProcess& process, Clock::Instant now);
  std::optional<Ending> act_on(WorkerProcess& process, const Reaction& reaction);
  static void send(WorkerProcess& process, const ToWorker& message, int memory = -1);
  void send_orders(WorkerProcess& process);
  bool nothing_left_before(Clock::Instant until, Clock::Instant at);
  std::optional<Clock::Instant> stop_at() const;
  bool wait(const WorkerProcess& process, Clock::Instant until) const;
  SessionTerms terms() const;

  const WorkerOptions& options_;
  Guarded<WorkerState>& state_;
  int wake_;
};

}  // namespace tutti
