#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "runner/message_intake.h"
#include "runner/runner_parts.h"
#include "transcribe/model_context.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// The messages of an SQS queue as files of a run: receives them, the most urgent first, fetches their recordings from
/// S3, has their windows served by the pool, and decides what becomes of every message that comes to no transcript.
/// Thread-safe.
class SqsJobSource final : public JobSource {
 public:
  explicit SqsJobSource(const RunnerParts& parts) : parts_(parts), intake_(parts) {}

  /// The model is there, or (null) none will be.
  void serve(const ModelContext* model);

  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t index) override;
  Result<FetchedAudio> fetch(const ClaimedFile& file) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  void failed(std::size_t index, const Error& error) override;

 private:
  bool has_capacity(bool held_back) const;
  ClaimedFile begin(MessageIntake::Waiting waiting);
  Result<void> expect_bucket(const std::string& bucket);
  Result<void> load_windows(RemoteAttempt& attempt) const;
  std::unique_ptr<KeptWindows> kept_windows(const std::shared_ptr<RemoteAttempt>& attempt, JobEngine& engine,
                                            WindowReplies known) const;
  void retry(const RemoteAttempt& attempt, const Error& error);
  void bury(const RemoteAttempt& attempt, const Error& error);
  const ModelContext* await_model(const RemoteAttempt& attempt);

  const RunnerParts parts_;
  const OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const std::vector<Segment>&) {
    const auto attempt = parts_.attempts.at(index);
    attempt->reached(position);
    parts_.report(*attempt, JobPhase::transcribing, "Transcribing");
  };
  MessageIntake intake_;        // the thread's that takes jobs
  std::size_t next_index_ = 0;  // likewise

  Guarded<std::optional<const ModelContext*>> model_{};  // none: it is still loading
  Guarded<std::set<std::string>> buckets_{};             // of results; they are there
};

}  // namespace tutti
