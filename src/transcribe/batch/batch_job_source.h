#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "base/guarded.h"
#include "jobs/job_admin.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/batch/claim_ahead.h"
#include "transcribe/batch/result_publisher.h"
#include "transcribe/inputs/address.h"
#include "transcribe/model_context.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// The jobs of a batch as files of a run: claims them in order, has their windows served by the pool, and records in
/// the store what became of every attempt that comes to no transcript. Thread-safe.
class BatchJobSource final : public JobSource {
 public:
  BatchJobSource(const RunParts& parts, JobAdmin& admin, BatchReporter& reporter, ResultPublisher& publisher)
      : parts_(parts), reporter_(reporter), publisher_(publisher), claims_(parts.leases, admin) {}

  /// The model is there, or (null) none will be.
  void serve(const ModelContext* model);
  /// Cancels the reading of recordings.
  void abort() { aborted_ = true; }
  /// What was claimed some time ago and not begun.
  void release_idle() { claims_.release_idle(); }
  /// What was claimed and not begun: the run ends.
  void release_all() { claims_.release_all(); }

  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t index) override;
  /// Of an address: into a file without a name.
  Result<FetchedAudio> fetch(const ClaimedFile& file) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  void failed(std::size_t index, const Error& error) override;

 private:
  std::optional<ClaimedFile> claim(const RunQueue::NextStep& step);
  BatchAttempt& begin(Lease lease);
  Result<void> expect_new_content(BatchAttempt& attempt, const std::filesystem::path& audio);
  void not_claimable(JobId id, const std::optional<Job>& known);
  bool is_superseded(JobId id, const JobSpec& stored);
  void superseded(JobId id);
  void add_remarks(const BatchAttempt& attempt, const Recording& recording);

  const RunParts parts_;
  BatchReporter& reporter_;
  ResultPublisher& publisher_;
  ClaimAhead claims_;
  const OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const std::vector<Segment>&) {
    parts_.attempts.at(index).reached(position);
  };
  std::atomic<bool> aborted_{false};
  AddressFetch addresses_{[this] { return !aborted_; }};
  Guarded<std::optional<const ModelContext*>> model_{};  // none: it is still loading
};

}  // namespace tutti
