#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/guarded.h"
#include "jobs/job_admin.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/batch/result_publisher.h"
#include "transcribe/model_context.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// The jobs of a batch as files of a run: claims them in order, has their windows served by the pool, and records in
/// the store what became of every attempt that comes to no transcript. Thread-safe.
class BatchJobSource final : public JobSource {
 public:
  BatchJobSource(const RunParts& parts, JobAdmin& admin, BatchReporter& reporter, ResultPublisher& publisher)
      : parts_(parts), admin_(admin), reporter_(reporter), publisher_(publisher) {}

  /// The model is there, or (null) none will be.
  void serve(const ModelContext* model);
  /// Cancels the reading of recordings.
  void abort() { aborted_ = true; }

  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t index) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  void failed(std::size_t index, const Error& error) override;

 private:
  std::optional<ClaimedFile> claim(JobId id);
  BatchAttempt& begin(Lease lease);
  void not_claimable(JobId id);
  bool is_superseded(JobId id, const JobSpec& stored);
  void superseded(JobId id);
  void add_remarks(const BatchAttempt& attempt, const Recording& recording);

  const RunParts parts_;
  JobAdmin& admin_;
  BatchReporter& reporter_;
  ResultPublisher& publisher_;
  const OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const std::vector<Segment>&) {
    parts_.attempts.at(index).reached(position);
  };
  std::atomic<bool> aborted_{false};
  Guarded<std::optional<const ModelContext*>> model_{};  // none: it is still loading
};

}  // namespace tutti
