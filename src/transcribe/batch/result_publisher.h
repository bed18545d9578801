#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/guarded.h"
#include "jobs/publish.h"
#include "jobs/store.h"
#include "transcribe/batch/batch_reporter.h"
#include "transcribe/run_stages.h"

namespace tutti {

/// Puts what a batch has transcribed in place, once each, also on a disk that is full, or not to be written to, for a
/// while. Results that are recorded and cannot be placed yet are kept and tried again. Thread-safe.
class ResultPublisher final : public ResultSink {
 public:
  ResultPublisher(const RunParts& parts, OutputRecords& records, BatchReporter& reporter)
      : parts_(parts), records_(records), reporter_(reporter) {}

  /// Where the outputs cannot be written now, it waits with them in memory. Where they are recorded and only their own
  /// disk has no space, it keeps them, where they outlast the run. Fault::cancelled: this thread has nothing more to do
  /// for the recording.
  Result<void> publish(TranscribedFile& file) override;
  /// The same with the outputs of another job, whose content is the same.
  Result<void> publish_copy(BatchAttempt& attempt, const std::vector<OutputContent>& contents);
  /// Tries what is kept again. For one thread at a time: the one that claims jobs, which has nothing else to do
  /// meanwhile.
  void publish_kept() { publish_kept(false); }
  /// The run ends: tries once more to put in place what could not be, also what an earlier run left.
  void publish_all_left();
  /// Ends the command for a finished recording, too.
  void abort() { aborted_ = true; }

 private:
  /// An attempt that is recorded as done, and whose outputs are staged elsewhere until their own disk has space.
  struct Kept {
    const BatchAttempt* attempt = nullptr;
    std::unique_ptr<DiskSpaceWait::Waiting> waiting{};
  };

  /// `use`: none where the contents are another job's.
  Result<void> publish(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                       std::optional<JobEngine::Use> use);
  void finish(const BatchAttempt& attempt, std::vector<KeptFile> kept_files);
  void keep(Kept kept);
  void publish_kept(bool last_time);
  void publish_left_staged();
  void leave_staged(const BatchAttempt& attempt, const Error& error);
  /// Its outputs are in place: runs the command of the user, if there is one.
  void run_on_done(const BatchJob& job);

  const RunParts parts_;
  OutputRecords& records_;
  BatchReporter& reporter_;
  Guarded<std::vector<Kept>> kept_{};
  std::atomic<bool> aborted_{false};
};

}  // namespace tutti
