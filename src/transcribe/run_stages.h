#pragma once

#include <atomic>
#include <optional>

#include "flow/pipeline.h"
#include "transcribe/recording_job.h"
#include "transcribe/run.h"
#include "transcribe/stop_signal.h"
#include "transcribe/tally.h"

namespace tutti {

/// Where the files of a run come from: a list of files, or a batch on a store.
class JobSource : public RecordingSink {
 public:
  /// The next file to transcribe; may wait. None: there are no more.
  virtual std::optional<ClaimedFile> next() = 0;
  /// It has ended without a transcript. Fault::cancelled: it was stopped.
  virtual void failed(std::size_t index, const Error& error) = 0;
};

/// Where the transcripts of a run go. Called by many threads, but for one file by one at a time.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  /// Publishes a transcript in whole, and enters its outputs in the outcome. An error ends the file. Fault::cancelled:
  /// it is not wanted any more, or what is left to do for it is done later.
  virtual Result<void> publish(TranscribedFile& file) = 0;
};

/// What the stages of a run share. Outlives the pipeline.
struct Run {
  JobSource& files;
  ResultSink& sink;
  const RunOptions& options;
  Tally& tally;
  StopSignal& stop;
  std::atomic<bool> aborted{false};  // decoders stop at their next tick
  const RecordingJob job{
      .sink = files, .options = options, .aborted = aborted, .is_wanted = [this] { return !stop.raised(); }};
};

/// Stages of a run that may be given more threads (prefetch.h); kSpeechStage is there with VAD.
inline constexpr const char* kDecodeStage = "decode";
inline constexpr const char* kSpeechStage = "listen";
inline constexpr const char* kPrepareStage = "prepare";

/// The stage that holds one window in flight per thread; its number of threads is set once the workers have reported
/// theirs.
inline constexpr const char* kTranscribeStage = "transcribe";

/// The stage that writes outputs and waits for the disk.
inline constexpr const char* kWriteStage = "write";

/// files -> decode [-> detect speech, with VAD] -> prepare -> transcribe -> write.
void build_stages(Pipeline& pipeline, Run& run);

}  // namespace tutti
