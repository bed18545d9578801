#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "feed/batch.h"
#include "feed/ring/ring.h"
#include "train/task.h"

namespace tutti {

struct BatchRingOptions {
  int depth = 3;        ///< batches ready on the device, or on their way there, beside those of the step at work
  int most_depth = 3;   ///< as deep as the ring may make itself where stalls of the feed pay for it
  int known_depth = 0;  ///< of a training like it before: taken as soon as its batches are known to fit; 0: none
  int in_step = 1;      ///< batches that one step holds
  Bytes memory{};       ///< that the batches may take where they are more than `depth`; 0: any
  int most_behind = 0;  ///< batches more that may wait in the feed, where the ring has no memory for them
  std::function<void(int)> wait_behind{};  ///< has so many more wait there
};

/// A batch on the task's device. It keeps its slot in the ring until it is released: by then everything that reads it
/// is enqueued.
struct RingBatch {
  TaskBatch rows{};
  std::int64_t epoch = 0;
  std::string position{};
  DeviceRing::Slot slot{};
};

/// The next batches of a training, prepared and copied while it steps: the ring of feed/ring with the task's work and
/// torch's copies in it. `next` belongs to one thread; another one, the ring's own, fetches, calls Task::prepare and
/// begins the copies.
class BatchRing {
 public:
  /// `task` outlives the ring, and so does what `next` reads.
  BatchRing(Task& task, NextBatch next, const BatchRingOptions& options);
  ~BatchRing();

  /// The oldest batch, waited for; none after the last.
  Result<std::optional<RingBatch>> next();
  /// As DeviceRing::go_on.
  void go_on() { ring_.go_on(); }
  /// Its `depth` counts batches beside those of the step, as the options do.
  RingReport report() const;

 private:
  class Slots;
  static RingOptions options_of(const BatchRingOptions& options, const Slots* slots);
  static NextBatch entered(NextBatch next, const Slots& slots);

  int in_step_;
  std::unique_ptr<Slots> slots_;
  DeviceRing ring_;
};

}  // namespace tutti
