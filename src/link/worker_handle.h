#pragma once

#include <span>
#include <thread>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "base/units.h"
#include "link/messages.h"
#include "link/supervisor.h"
#include "link/window_engine.h"
#include "link/window_table.h"

namespace tutti {

/// One worker process as the control side sees it. Thread-safe; every call waits for its own answer only, and many
/// callers share the one worker, which batches them.
///
/// A worker that dies, hangs, or sends what it should not is noticed within a second, killed, and started again, and
/// the windows it had are opened and submitted again: callers see a slower answer and nothing else. Errors they do see:
/// the worker's error about their window (Fault::exhausted: try smaller); Fault::device when a window ended two
/// workers, or no worker can be kept alive, with the evidence; Fault::cancelled after `stop`.
///
/// Owns one thread (the supervisor) and, through it, the process and a thread that reads the process's output.
class WorkerHandle final : public WindowEngine {
 public:
  /// From a stop to the end of what is in flight and of the process.
  static constexpr Seconds kGrace{0.6};

  /// Starts the worker at once and returns without waiting for it. Fault::exhausted when no descriptor is to be had.
  static Result<std::unique_ptr<WorkerHandle>> start(WorkerOptions options);
  /// No other call may be waiting in here; `stop` releases them.
  ~WorkerHandle() override;

  /// Waits for the first worker to have the model loaded; an error names why none could.
  Result<Ready> ready();

  Result<Opened> open(const OpenWindow& window, std::span<const float> mel) override;
  Result<Language> detect_language(WindowId window) override;
  Result<Decoded> decode(const DecodeWindow& request) override;
  Result<Aligned> align(const AlignWindow& request) override;
  /// Frees the window here and there; none of its calls may be waiting. Unknown windows are fine.
  void release(WindowId window) override;

  /// The window's caller has left: its waiting call gets Fault::cancelled at once, and the worker drops it with
  /// the release that follows. No other call may follow.
  void cancel(WindowId window);

  /// Stops: nothing new begins, what is in flight has `grace` to finish, every waiting call is released. Returns at
  /// once.
  void stop(Seconds grace = kGrace);

  /// Workers that were started again.
  std::int64_t restarts() const;
  /// The worker's process; nothing between two.
  std::optional<int> process() const;
  /// Why there is no worker any more; nothing while one is kept alive.
  std::optional<Error> ended() const;
  /// How it ended does not tell that what it worked on was to blame (Ending::unclear).
  bool ended_unclearly() const;

 private:
  WorkerHandle(WorkerOptions options, OwnedFd wake);
  WindowTable::Reply submit(const WindowTable::Request& request, WindowTable::Memory memory = nullptr);
  void wake() const;

  const WorkerOptions options_;
  Guarded<WorkerState> state_;
  OwnedFd wake_;  // eventfd: the state has something new for the supervisor
  Supervisor supervisor_;
  std::jthread thread_;  // last: it uses all of the above, and the process must not outlive it (PR_SET_PDEATHSIG)
};

}  // namespace tutti
