#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>

#include "jobs/store.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/batch/batch_spaces.h"
#include "transcribe/batch/attempt_list.h"
#include "transcribe/batch/result_publisher.h"
#include "transcribe/batch/run_queue.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// The jobs of a batch as files of a run. Claims them in order, has their windows served by the pool, publishes each
/// result once, and records in the store what became of every attempt. Owns the parts that do so. Thread-safe.
class BatchJobSource final : public JobSource {
 public:
  BatchJobSource(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer);

  // --- for the caller that runs the batch
  RunQueue& queue() { return queue_; }
  LeaseRenewer& leases() { return leases_; }
  BatchReporter& reporter() { return reporter_; }
  /// Where it writes; also for other writers to the store.
  DiskSpaceWait& output_space() { return spaces_.output; }
  /// The model is there, or (null) none will be.
  void serve(const ModelContext* model);
  void set_progress(const OnProgressOfFile& on_progress) { on_progress_ = &on_progress; }
  void reached(std::size_t index, Seconds position);
  /// Cancels the reading of recordings and ends every wait for full disks.
  void abort();
  /// The run ends: releases what is still held, and tries once more to put in place what could not be.
  void release(const std::string& reason);
  RunSnapshot snapshot() const;
  /// All jobs of this run as it knows them. Only while no other thread is at work on them: once the run has ended.
  const std::map<JobId, BatchEntry>& entries() const { return state_.entries; }

  // --- the stages
  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t index) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  Result<void> publish(TranscribedFile& file) override;
  void failed(std::size_t index, const Error& error) override;

 private:
  using Lock = BatchState::Lock;

  std::optional<ClaimedFile> claim(JobId id);
  void add_remarks(const BatchAttempt& attempt, const Recording& recording);

  const BatchOptions& options_;
  JobStore& store_;
  DevicePool& pool_;
  const OnProgressOfFile* on_progress_ = nullptr;
  std::atomic<bool> aborted_{false};
  std::optional<const ModelContext*> model_{};  // under the state's lock
  BatchSpaces spaces_;
  BatchState state_;
  RunQueue queue_;
  LeaseRenewer leases_;
  BatchReporter reporter_;
  ResultPublisher publisher_;
};

}  // namespace tutti
