#pragma once

#include <cstdint>
#include <memory>

#include "transcribe/pool/device_pool.h"

namespace tutti {

/// A recording whose windows a pool serves: its job there, and its engine, as long as this is there.
class PooledRecording {
 public:
  /// `pool` outlives it.
  PooledRecording(DevicePool& pool, const PoolJob& job) : pool_(pool), id_(job.id) {
    pool_.add_job(job);
    engine_ = pool_.engine(job);
  }
  PooledRecording(const PooledRecording&) = delete;
  PooledRecording& operator=(const PooledRecording&) = delete;
  /// None of the engine's calls may be waiting.
  ~PooledRecording() {
    engine_.reset();
    pool_.end_job(id_);
  }

  JobEngine& engine() { return *engine_; }

 private:
  DevicePool& pool_;
  const std::uint64_t id_;
  std::unique_ptr<JobEngine> engine_{};
};

}  // namespace tutti
