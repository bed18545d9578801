#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "feed/ring/ring.h"

namespace tutti {

/// A device made of a timer: copies take no time, a step takes the given time. For benchmarks and tests of the ring.
class EmulatedAccelerator final : public RingDevice {
 public:
  Result<void> begin_transfer(std::size_t slot, const Batch& batch) override {
    std::lock_guard lock(mutex_);
    transfers_.push_back({slot, batch.index});
    return {};
  }
  void use(std::size_t) override {}
  void release(std::size_t slot) override {
    std::lock_guard lock(mutex_);
    released_.push_back(slot);
  }

  struct Transfer {
    std::size_t slot;
    std::int64_t batch;
  };
  std::vector<Transfer> transfers() const {
    std::lock_guard lock(mutex_);
    return transfers_;
  }
  std::vector<std::size_t> released() const {
    std::lock_guard lock(mutex_);
    return released_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> released_;
};

}  // namespace tutti
