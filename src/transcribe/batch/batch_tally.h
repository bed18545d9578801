#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "jobs/job_queue.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// A job as the run knows it. What the store knew of it when the run requested it decides whether there is something to
/// do.
struct BatchEntry {
  JobId id = 0;
  JobState state = JobState::queued;  // when this run requested it
  const BatchJob* job = nullptr;
  StoreTime submitted{};                     // it has waited since then, also before this run
  Seconds audio{};                           // known or guessed from the file's size; 0: neither
  std::optional<Seconds> declared_length{};  // its length, if it was declared when the run began
  Seconds requested{};                       // length of what its transcript covers: the part within the clips to be
                                             // transcribed
  std::optional<JobEngine::Use> use{};       // once this run has transcribed it, and not copied
  std::size_t number = 0;                    // among those that this run has begun, from 1; 0: not yet
  std::size_t started = 0;                   // among those that have started on a device or ended, from 1; 0: not yet
  std::string left_staged{};                 // done, but its outputs are not in place: why; as far as this run goes it
                                             // has failed
  std::vector<KeptFile> kept_files{};        // at the names of its outputs, which this run found and left
  std::vector<std::string> losses{};         // what damage in its file cost, where this run has decoded it
  std::vector<std::string> notes{};          // what was chosen of its file, likewise
  bool without_speech = false;               // the transcript of this run has no text
  std::size_t replacements = 0;              // texts that were replaced in it
  bool seen_elsewhere = false;               // another process held it when this run wanted to claim it
};

/// What a run has left: its jobs that have not ended.
struct OpenJobs {
  std::size_t count = 0;
  Seconds audio{};          // audio of all these jobs, as far as its length is known
  std::size_t unknown = 0;  // those of unknown length
  void add(const BatchEntry& job) {
    ++count;
    audio += job.audio;
    if (job.audio <= Seconds(0)) ++unknown;
  }
  /// As it was added: with the same length.
  void remove(const BatchEntry& job) {
    --count;
    audio -= job.audio;
    if (job.audio <= Seconds(0)) --unknown;
  }
};

/// What a run has finished itself.
struct BatchDone {
  std::size_t recordings = 0;
  std::size_t copied = 0;              // recordings with the transcript of another one, whose content is the same
  std::size_t without_speech = 0;      // recordings whose transcripts have no text
  std::size_t replacements = 0;        // texts that were replaced in the transcripts
  Seconds audio{};                     // whole length of the recordings that were transcribed, not copied
  Seconds requested{};                 // part of `audio` within the clips to be transcribed; without clips, all of
                                       // it
  std::vector<Seconds> transcribed{};  // the lengths of that, as they were known when the run began
  bool has_retried = false;            // an attempt failed, and its job was to be tried again
};

/// How much audio a run has transcribed, recordings in work included, and comes to: what it has done and has left.
struct BatchProgress {
  Seconds done{};
  std::optional<Seconds> total{};  // none: not all recordings are known yet, or not all of their lengths
  bool all_known = true;           // all recordings are
};

/// What a run has to do, has done and has left, in numbers.
struct BatchTally {
  BatchCounts counts{};     // jobs that were added, by state
  BatchCounts before{};     // jobs of `counts` that had ended when the run began
  std::size_t to_come = 0;  // jobs that are still to be added
  std::size_t to_do = 0;    // jobs that had not ended when they were added
  std::size_t begun = 0;    // jobs of `to_do` that were claimed
  std::size_t started = 0;  // jobs of `to_do` that have started on a device or ended
  OpenJobs open{};          // jobs of `to_do` that have not ended
  BatchDone done{};         // jobs of `to_do` that this run has done

  void add(const BatchEntry& entry, JobState state) {
    const bool is_placed = entry.left_staged.empty();
    counts.add(is_placed ? state : JobState::dead);
    if (!is_final(state)) {
      ++to_do;
      open.add(entry);
    } else if (is_placed) {
      before.add(state);
    }
  }
  /// Recorded as done, but its outputs lay staged, so that it counted as failed: now they are in place.
  void placed(const BatchEntry& entry) {
    --counts.failed;
    ++counts.done;
    if (entry.number > 0)
      count_done(entry);
    else
      ++before.done;
  }
  /// That this run has done it.
  void count_done(const BatchEntry& entry) {
    ++done.recordings;
    done.without_speech += entry.without_speech ? 1 : 0;
    done.replacements += entry.replacements;
    if (!entry.use) {
      ++done.copied;
      return;
    }
    done.audio += entry.audio;
    done.requested += entry.requested;
    if (entry.declared_length) done.transcribed.push_back(*entry.declared_length);
  }
};

}  // namespace tutti
