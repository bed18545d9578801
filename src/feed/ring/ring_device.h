#pragma once

#include <cstddef>

#include "base/error.h"
#include "feed/batch.h"

namespace tutti {

/// A device as the ring sees it: memory for so many batches, and copies that run beside the device's own work. On a GPU
/// that is a copy stream and two events a slot; nothing here makes the host wait for the device's work.
class RingDevice {
 public:
  virtual ~RingDevice() = default;

  /// Begins to copy `batch` to `slot`'s memory, on the device after everything enqueued before `release(slot)`. May
  /// wait for the slot's earlier copy (long done), never for a step. `batch` stays where it is until the slot's next
  /// transfer or the ring's end. Called by the ring's thread.
  virtual Result<void> begin_transfer(std::size_t slot, const Batch& batch) = 0;
  /// What is enqueued from now on runs after the slot's copy. Enqueues only. Called by the consumer.
  virtual void use(std::size_t slot) = 0;
  /// The last work that reads the slot has been enqueued. Enqueues only. Called by the consumer.
  virtual void release(std::size_t slot) = 0;
};

}  // namespace tutti
