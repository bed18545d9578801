#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "advise/live_tuner.h"
#include "audio/recording.h"
#include "base/error.h"
#include "base/units.h"
#include "diarize/diarize_options.h"
#include "transcript/transcript.h"

namespace tutti {

/// Where the time of one file, or of a whole run, went. `encoder` and `decoder` are the worker's own: what it spent on
/// the file alone, and the file's share of what it stepped together with others; over all files they never exceed the
/// worker's time. The rest are thread-seconds of the stage that did the work, beside the worker's.
struct TimeSpent {
  Seconds audio{};      // decoding and resampling
  Seconds listening{};  // VAD
  Seconds features{};   // log-mel, both passes
  Seconds speakers{};   // finding who speaks, the worker's time for it included
  Seconds encoder{};
  Seconds decoder{};
  Seconds waiting{};  // threads for the worker, beyond what it worked for them: other windows, transport, restarts
  Seconds writing{};

  Seconds worker() const { return encoder + decoder; }
  TimeSpent& operator+=(const TimeSpent& other);
};

/// How many windows there were and what they took.
struct WindowCounts {
  std::size_t windows = 0;
  std::size_t decodings = 0;       // windows, fallbacks included
  std::size_t decoder_steps = 0;   // decoder steps of the texts that were chosen
  std::size_t narrow_margins = 0;  // steps of `decoder_steps` that were decided by less than 1e-4
  std::size_t sequence_steps = 0;  // decoder steps of all sequences: samples and beams, too
  double batch_steps = 0;          // the worker's, each shared by the sequences in it

  /// Sequences that the worker stepped together, on average over its steps.
  double batch_fill() const { return batch_steps > 0 ? static_cast<double>(sequence_steps) / batch_steps : 0; }
  WindowCounts& operator+=(const WindowCounts& other);
};

struct FileOutcome {
  std::size_t index = 0;  // in the order of the command line
  std::filesystem::path input{};
  Seconds duration{};   // length of the audio
  Seconds requested{};  // part of `duration` within the clips that were to be transcribed; without clips, all of it
  Seconds elapsed{};    // from the start of its decoding to its outputs
  std::string language{};
  std::vector<std::string> losses{};  // what damage in the input cost
  std::vector<std::string> notes{};   // what was chosen of the input (track, channel), and how it is laid out
  bool without_speech = false;        // its transcript has no text
  std::size_t replacements = 0;       // texts in it that were replaced, as its options have it
  std::vector<std::filesystem::path> outputs{};
  std::vector<std::filesystem::path> replaced{};  // outputs that replaced a file
  WindowCounts counts{};
  std::size_t forced_cuts = 0;  // with --batched: windows that end during speech because it held no silence
  TimeSpent spent{};
  std::vector<SpeakerSummary> speakers{};  // where they were to be found, in order of their first turns
};

struct RunSummary {
  std::size_t files = 0;
  std::size_t done = 0;
  std::size_t skipped = 0;  // outputs were there already
  std::size_t failed = 0;
  std::vector<std::filesystem::path> replaced{};  // output files that were there before
  std::size_t without_speech = 0;                 // files done whose transcripts have no text
  std::size_t replacements = 0;                   // texts that were replaced in the transcripts of files done
  std::size_t failed_commands = 0;                // runs of the command for finished recordings that failed
  Seconds audio{};                                // that was requested, of the files done
  Seconds elapsed{};
  Seconds model_load{};
  TimeSpent spent{};
  WindowCounts counts{};
  std::size_t worker_restarts = 0;
  bool unfinished_work = false;  // the worker also worked on files that failed: `spent` leaves that out
  bool interrupted = false;
  std::optional<TuningResult> tuning{};  // of the stages that make windows of files; none: nothing was measured
  std::string finding{};  // one sentence: what limited the run, and what one change would gain; empty: not known
};

/// Receives what happens in a run. Calls are serialised: one at a time, from any thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// The worker is ready.
  virtual void on_ready(const std::string& /*device*/, const std::string& /*compute_type*/, Seconds /*load*/) {}
  virtual void on_decoded(std::size_t /*index*/, const Recording& /*recording*/) {}
  virtual void on_progress(std::size_t /*index*/, Seconds /*position*/, const std::vector<Segment>& /*fresh*/) {}
  virtual void on_done(const FileOutcome& /*outcome*/, const Transcript& /*transcript*/) {}
  virtual void on_failed(std::size_t /*index*/, const Error& /*error*/) {}
};

}  // namespace tutti
