#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "train/report/machine_line.h"
#include "train/report/tensorboard_writer.h"
#include "train/trainer.h"

namespace tutti {

/// A file of JSON lines that is added to as they come. One thread.
class JsonLines {
 public:
  /// Opens `path`, made when missing, behind what is there; but lines whose "step" is above `last_step` are dropped
  /// before, and so is the evaluation of that step where it is due: they are about to be made again.
  static Result<JsonLines> open(const std::filesystem::path& path, std::int64_t last_step, bool evaluation_due = false);

  void add(const std::string& line) { file_.add(line + "\n"); }

 private:
  explicit JsonLines(GrowingFile file) : file_(std::move(file)) {}
  GrowingFile file_;
};

struct TrainingLogOptions {
  std::filesystem::path out{};
  std::int64_t last_step = 0;   // step of the checkpoint that is continued; 0: a new training
  bool evaluation_due = false;  // TrainingState::evaluation_due of that checkpoint
  std::int32_t log_steps = 10;
  bool log_order = false;
};

/// OUT/metrics.jsonl, the same numbers for TensorBoard in OUT/events, and OUT/order.jsonl.
class TrainingLog {
 public:
  static Result<TrainingLog> open(const TrainingLogOptions& options);

  /// load: of the machine, lately; its shares are in the line, as far as they are known.
  void stepped(const StepReport& step, const MachineLoad& load = {});
  void evaluated(const TrainingState& state, const TaskScores& scores, bool best);
  /// Writes a line for the steps that have none yet.
  void ended();

 private:
  /// Steps since the last line.
  struct Steps {
    std::int64_t count = 0;
    std::int64_t finite = 0;  // whose losses are in the sum
    double loss = 0;
    double waited = 0;
    double seconds = 0;
    std::int64_t samples = 0;
    std::int64_t targets = 0;
    FrameCounts frames{};
    std::int64_t new_shapes = 0;
  };
  /// What a line shows of the last of them.
  struct Last {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    double rate = 0;
    double gradient_norm = 0;
    std::int64_t left_out = 0;
    std::int64_t shapes = 0;
    MachineLoad load{};
  };
  void write_line();
  TrainingLog(TrainingLogOptions options, JsonLines metrics, EventFile events, std::unique_ptr<JsonLines> order)
      : options_(std::move(options)),
        metrics_(std::move(metrics)),
        events_(std::move(events)),
        order_(std::move(order)) {}

  TrainingLogOptions options_;
  JsonLines metrics_;
  EventFile events_;
  std::unique_ptr<JsonLines> order_;  // none where it is not requested
  Steps steps_{};
  Last last_{};
};

}  // namespace tutti
