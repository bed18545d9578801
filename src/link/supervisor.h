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
#include "link/restart_policy.h"
#include "link/session.h"
#include "link/window_book.h"

namespace tutti {

struct WorkerOptions {
  std::string name = "worker";  // in front of its log lines and in errors: "worker cuda:0"
  EngineCommand command;        // what to run; see engine_command()
  std::string device_uuid{};    // the one device the worker may see and must report; empty: none (a CPU worker)
  std::optional<int> core{};    // the one it may run on; none: all of ours
  std::string build_id;         // which the worker must share
  LoadModel model{};
  Seconds load_limit{600};  // from start to Ready
  HeartbeatLimits heartbeat{};
  RestartLimits restarts{};
};

/// What callers and the supervising thread share.
struct WorkerDesk {
  WindowBook book;
  std::optional<Ready> ready;             // of the latest worker
  std::optional<int> process;             // of the present one
  std::optional<Error> gave_up;           // no worker any more, and why
  bool ended_unclearly = false;           // Ending::unclear of the last one
  std::optional<Clock::Instant> stop_at;  // stopping: what is in flight has until then
  std::int64_t restarts = 0;
};

/// Keeps one worker process alive and in conversation with the desk. `run` is one thread, the only one that starts the
/// process, sends and receives; it blocks on the connection, the process and `wake` together.
class Supervisor {
 public:
  /// `wake`: an eventfd, written when the desk has changed. All three must outlive this.
  Supervisor(const WorkerOptions& options, Guarded<WorkerDesk>& desk, int wake)
      : options_(options), desk_(desk), wake_(wake) {}

  /// Until stopped or given up.
  void run();

 private:
  struct Life;  // one worker process

  Result<std::unique_ptr<Child>> start(OwnedFd socket) const;
  Ending live(bool& was_ready);
  Ending converse(Life& life);
  std::optional<Ending> hear_everything(Life& life, Clock::Instant now);
  std::optional<Ending> act_on(Life& life, const Reaction& reaction);
  static void say(Life& life, const ToWorker& message, int memory = -1);
  void send_orders(Life& life);
  bool nothing_left_before(Clock::Instant until, Clock::Instant at);
  std::optional<Clock::Instant> stop_at() const;
  bool wait(const Life* life, Clock::Instant until) const;
  bool rest(Seconds time) const;
  void report_loss(const Ending& ending);
  SessionTerms terms() const;

  const WorkerOptions& options_;
  Guarded<WorkerDesk>& desk_;
  int wake_;
};

}  // namespace tutti
