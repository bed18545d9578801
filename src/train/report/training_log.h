#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "train/report/event_file.h"
#include "train/report/growing_file.h"
#include "train/trainer.h"

namespace tutti {

/// A file of JSON lines that is added to as they come. One thread.
class JsonLines {
 public:
  /// Opens `path`, made when missing, behind what is there; but lines whose "step" is above `last_step` are dropped
  /// before: they are about to be made again.
  static Result<JsonLines> open(const std::filesystem::path& path, std::int64_t last_step);

  void add(const std::string& line) { file_.add(line + "\n"); }

 private:
  explicit JsonLines(GrowingFile file) : file_(std::move(file)) {}
  GrowingFile file_;
};

struct TrainingLogOptions {
  std::filesystem::path out{};
  std::int64_t last_step = 0;  // of the checkpoint that is continued; 0: a new training
  std::int32_t log_steps = 10;
  bool log_order = false;
};

/// OUT/metrics.jsonl, the same numbers for TensorBoard in OUT/events, and OUT/order.jsonl.
class TrainingLog {
 public:
  static Result<TrainingLog> open(const TrainingLogOptions& options);

  void stepped(const StepReport& step);
  void evaluated(const TrainingState& state, const Evaluation& evaluation, bool best);

 private:
  TrainingLog(TrainingLogOptions options, JsonLines metrics, EventFile events, std::unique_ptr<JsonLines> order)
      : options_(std::move(options)),
        metrics_(std::move(metrics)),
        events_(std::move(events)),
        order_(std::move(order)) {}

  TrainingLogOptions options_;
  JsonLines metrics_;
  EventFile events_;
  std::unique_ptr<JsonLines> order_;  // none where it is not asked for
  double loss_ = 0;                   // sums since the last line
  double waited_ = 0;
  double seconds_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t targets_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace tutti
