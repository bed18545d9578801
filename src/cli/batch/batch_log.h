#pragma once

#include <functional>
#include <string>

#include "transcribe/batch/batch_run.h"

namespace tutti {

/// What happens in a batch as log lines in the field note's form. With `ask`, a failed task asks on the terminal what
/// to do. `control`: gives the status, while there is one.
class BatchLog final : public BatchObserver {
 public:
  using Status = std::function<std::optional<FleetStatus>()>;
  /// Runs what needs the terminal for itself.
  using Aside = std::function<void(const std::function<void()>&)>;
  BatchLog(
      bool ask, Status status, Aside aside = [](const auto& during) { during(); })
      : ask_(ask), status_(std::move(status)), aside_(std::move(aside)) {}

  void on_start(const BatchStart& start) override;
  void on_done(const BatchEnd& end, const BatchCounts& counts) override;
  Wish on_failed(const BatchEnd& end, const Error& error, const BatchCounts& counts) override;
  void on_retry(const BatchEnd& end, const std::string& reason, Seconds wait) override;

 private:
  void say_progress(const BatchCounts& counts);

  bool ask_;
  Status status_;
  Aside aside_;
};

/// From now on log lines are "2025-11-12 10:15:23 - [Worker-1  ] - INFO - text" on standard error, named after the
/// thread that wrote them.
void log_as_the_note();

/// "GPU 0: 3/5 tasks, 45% util | GPU 1: 2/5 tasks, 32% util -> next: GPU 1"
std::string note_line(const FleetStatus& status);

}  // namespace tutti
