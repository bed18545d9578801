#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/owned.h"
#include "train/report/event_file.h"
#include "train/trainer.h"

namespace tutti {

/// A file of JSON lines that is added to as they come. One thread.
class JsonLines {
 public:
  /// Opens `path`, made when missing, behind what is there.
  static Result<JsonLines> append(const std::filesystem::path& path);
  /// As `append`; lines whose "step" is above `last_step` are dropped before: they are about to be made again.
  static Result<JsonLines> open(const std::filesystem::path& path, std::int64_t last_step);

  /// One line; what cannot be written is told in the log once.
  void add(const std::string& line);

 private:
  JsonLines(std::unique_ptr<std::FILE, FreeWith<std::fclose>> file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  std::unique_ptr<std::FILE, FreeWith<std::fclose>> file_;
  std::filesystem::path path_;
  bool complained_ = false;
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
