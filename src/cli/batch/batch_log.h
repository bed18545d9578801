#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "transcribe/batch/batch_run.h"

namespace tutti {

/// What happens in a batch as log lines in the field note's form.
class BatchLog final : public BatchObserver {
 public:
  /// The status, while there is one, with the devices as they were in that view.
  using Status = std::function<std::optional<FleetStatus>(const PoolView&)>;
  /// Prompts the user for what shall be done about a recording that failed; none where no user is to be prompted.
  using FailurePrompt = std::function<Action(const std::string& name)>;
  BatchLog(FailurePrompt ask, Status status) : prompt_(std::move(ask)), status_(std::move(status)) {}

  /// `fn` gets the work there is to do, once. To be set before the run.
  void when_accepted(std::function<void(const BatchWork&)> fn) { accepted_ = std::move(fn); }

  void on_accepted(const BatchWork& work) override {
    if (accepted_) accepted_(work);
  }
  void on_start(const BatchStart& start) override;
  void on_done(const BatchEnd& end, const BatchCounts& counts) override;
  Action on_failed(const BatchEnd& end, const Error& error, const BatchCounts& counts) override;
  void on_retry(const BatchEnd& end, const std::string& reason, Seconds wait) override;

 private:
  void say_progress(const BatchCounts& counts);

  FailurePrompt prompt_;
  Status status_;
  std::function<void(const BatchWork&)> accepted_{};
};

/// "INFO", as the field note's logs have it.
const char* note_level(Level level);

/// From now on log lines are "2025-11-12 10:15:23 - [Worker-1  ] - INFO - text" on standard error: of a recording in
/// work under the number of its worker, else [MainThread], or [Batch] where another thread of ours wrote them.
void log_as_the_note();

}  // namespace tutti
