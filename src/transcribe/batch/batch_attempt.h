#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "base/units.h"
#include "jobs/lease.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/file_transcription.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// One claim of a task, from the store's lease to its end.
struct BatchAttempt {
  std::size_t index = 0;
  Lease lease{};
  const BatchTask* task = nullptr;
  Seconds started{};  // by the pool's clock
  Seconds length{};
  std::atomic<double> position{0};  // seconds of the recording
  std::unique_ptr<PoolTaskEngine> engine{};
  std::optional<TranscriptionContext> context{};
  bool publishing = false;           // its lease ends with that; under the lock
  std::atomic<bool> settled{false};  // the store knows how it ended, or the lease is somebody else's
};

}  // namespace tutti
