#pragma once

#include <functional>
#include <memory>

namespace tutti {

/// Work on a device that was recorded once and can be done again as it was, on the same memory.
class StepRecording {
 public:
  virtual ~StepRecording() = default;
  /// Enqueues the work on the current stream.
  virtual void replay() = 0;
};

/// Records work: CUDA graphs on a GPU.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  /// Does `work` once and records it. `work` only enqueues, always the same on the same memory; it may be called more
  /// than once. Throws what torch throws; the device is then as before.
  virtual std::unique_ptr<StepRecording> record(const std::function<void()>& work) = 0;
};

}  // namespace tutti
