#pragma once

#include <optional>
#include <vector>

#include "base/guarded.h"
#include "transcribe/output_plan.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// The files of a command line, in its order, served by one worker.
class FileList final : public JobSource {
 public:
  FileList(const std::vector<PlannedFile>& files, const WriterOptions& writer, Tally& tally)
      : files_(files), ownership_(ownership_of(files)), writer_(writer), tally_(tally) {}

  /// The worker is there, or (null) there will be none. Outlives the run.
  void serve(const TranscriptionContext* context);

  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t) override { return {}; }
  Result<void> on_audio_decoded(std::size_t, Seconds) override { return {}; }
  const TranscriptionContext* context(std::size_t) override;
  Result<void> publish(TranscribedFile& file) override;
  void failed(std::size_t index, const Error& error) override { tally_.failed(index, error); }

 private:
  const std::vector<PlannedFile>& files_;
  const OutputOwnership ownership_;
  const WriterOptions& writer_;
  Tally& tally_;
  std::size_t next_ = 0;
  Guarded<std::optional<const TranscriptionContext*>> ready_{};  // empty: still loading
};

}  // namespace tutti
