#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/guarded.h"
#include "base/units.h"
#include "transcribe/file_transcription.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// The error for a caller whose attempt is over.
inline tl::unexpected<Error> not_wanted() {
  return fail(Fault::cancelled, "not to be worked on any more");
}

/// One attempt on a recording, whatever holds its job: how far it is, what serves its windows, and who ends it.
/// Thread-safe.
class RecordingAttempt {
 public:
  /// `length`: what is known of it before its audio is there.
  explicit RecordingAttempt(Seconds length) : state_(State{.length = length}) {}

  Seconds length() const;
  /// Its audio is there, and so long.
  void set_decoded(Seconds length);
  bool is_decoded() const;
  /// So far into the recording its transcript reaches.
  void reached(Seconds position) { position_ = position.count(); }
  Seconds position() const { return Seconds(position_); }
  /// Of the recording, 0..1.
  double share() const;

  /// It is over: the first caller decides what becomes of its job; false for all others.
  bool settle() { return !settled_.exchange(true); }
  bool has_settled() const { return settled_; }

  /// What serves its windows. The context refers to the engine.
  struct Serving {
    std::shared_ptr<JobEngine> engine{};
    TranscriptionContext context;
  };
  /// How its windows are served; `make` is called by the first call. Null: it has settled.
  const TranscriptionContext* context(const std::function<Serving()>& make);
  /// The devices that it has windows on, separated by commas. None: it has no engine, yet or any more.
  std::optional<std::string> devices() const;
  JobEngine::Use use() const;
  /// Every call for its windows that waits ends.
  void cancel();
  /// Its capacity on a device is free. None of its windows may be in work.
  void release_engine();

 private:
  struct State {
    Seconds length{};
    bool decoded = false;
    std::shared_ptr<JobEngine> engine{};
    std::optional<TranscriptionContext> context{};
  };

  std::atomic<double> position_{0};  // seconds of the recording
  std::atomic<bool> settled_{false};
  Guarded<State> state_;
};

}  // namespace tutti
