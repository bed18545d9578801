#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "cloud/job_message.h"
#include "runner/runner_parts.h"
#include "transcribe/run_stages.h"
#include "transcript/transcript.h"

namespace tutti {

/// What a result has of its job beside the transcript.
struct ResultFacts {
  std::string worker_id{};
  std::string model{};          // as the runner was given it: "large-v3"
  std::int32_t batch_size = 0;  // windows that its device steps together
  Seconds took{};               // from the start of its audio decoding
  Seconds audio{};
  std::string input_etag{};           // of the recording that was transcribed
  std::vector<std::string> losses{};  // what damage in it cost; left out where there is none
  std::chrono::system_clock::time_point at{};
};

inline constexpr int kResultVersion = 1;

/// The object that a job becomes: field note 001's fields in its order, with the version of this schema. Words without
/// a time keep their "word" alone, and a word's probability is its "score". `message`: its retry_count is SQS's.
std::string result_json(const JobMessage& message, const ResultFacts& facts, const Transcript& transcript);

/// Puts transcripts where their messages name, once each: the put of the result is what decides which of several
/// workers has done a job. Thread-safe.
class S3Sink final : public ResultSink {
 public:
  explicit S3Sink(const RunnerParts& parts) : parts_(parts) {}

  /// Where S3 does not answer, it tries again as long as the message is this process's. Fault::cancelled: it may be
  /// another's by now. Where another has published it before, the job just ends.
  Result<void> publish(TranscribedFile& file) override;

 private:
  Result<PutEnd> put(const RemoteAttempt& attempt, const S3Path& output, const std::string& content);
  std::string content_of(const RemoteAttempt& attempt, const TranscribedFile& file) const;
  void log_done(const RemoteAttempt& attempt, const TranscribedFile& file, const std::string& device) const;

  const RunnerParts parts_;
};

}  // namespace tutti
