#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"

namespace tutti {

/// What a stage does with an item its function fails on.
enum class OnError {
  stop,  ///< the pipeline stops and yields this error
  skip,  ///< the item is reported and left out
};

/// An error and the stage it came from.
struct StageError {
  std::string stage;
  Error error;
};

/// Where the errors of a pipeline go. Thread-safe.
class Failures {
 public:
  /// Sees every skipped item, on the thread of its stage, one at a time.
  using OnSkip = std::function<void(const StageError&)>;

  explicit Failures(OnSkip on_skip) : on_skip_(std::move(on_skip)) {}

  /// What stops the pipeline; set before its threads start.
  void set_stopper(std::function<void()> stop) { stop_ = std::move(stop); }

  void skip(const StageError& failure);
  /// Keeps the first error and stops the pipeline.
  void stop(Error error);

  std::optional<Error> first() const {
    return first_.with([](const auto& error) { return error; });
  }

 private:
  Guarded<OnSkip> on_skip_;
  std::function<void()> stop_;
  Guarded<std::optional<Error>> first_;
};

/// The running exception as an error of `stage`. Where memory ran out it needs none for that.
Error error_of_exception(const std::string& stage);

}  // namespace tutti
