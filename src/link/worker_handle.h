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
/// A worker that dies, hangs, or sends what it should not is noticed within a second and killed. No other follows:
/// that, and what becomes of its windows, is its pool's affair (transcribe/pool). Errors that callers see: the worker's
/// error about their window (Fault::exhausted: try smaller); why the worker has ended, with the evidence;
/// Fault::cancelled after `stop`.
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

  /// Waits until it has the model loaded; an error names why it could not.
  Result<Ready> ready();

  Result<Opened> open(const OpenWindow& facts, std::span<const float> mel) override;
  Result<Language> detect_language(WindowId window) override;
  Result<Decoded> decode(const DecodeWindow& request) override;
  Result<Aligned> align(const AlignWindow& request) override;
  Result<Transcribed> transcribe(const TranscribeWindow& request) override;
  Result<SpeakersAnalyzed> analyze_speakers(const AnalyzeSpeakers& request, std::span<const float> inputs) override;
  /// Frees the window here and there; none of its calls may be waiting. Unknown windows are fine.
  void release(WindowId window) override;

  /// The window's caller has left: its waiting call gets Fault::cancelled at once, and the worker drops it with
  /// the release that follows. No other call may follow.
  void cancel(WindowId window);

  /// Stops: nothing new begins, what is in flight has `grace` to finish, every waiting call is released. Returns at
  /// once.
  void stop(Seconds grace = kGrace);

  /// Its process; nothing once that has ended.
  std::optional<int> process() const;
  /// It has finished a decoding, an alignment or the detection of a language.
  bool has_finished_work() const;
  /// Why it is there no more; nothing while it is.
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
