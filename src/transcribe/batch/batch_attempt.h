#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "jobs/lease.h"
#include "jobs/store.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/file_transcription.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {

/// The error for a caller whose attempt is over.
inline tl::unexpected<Error> not_wanted() {
  return fail(Fault::cancelled, "not to be worked on any more");
}

/// What its log lines are under, as threads are in the field note's program.
inline std::string worker_name(std::size_t worker) {
  return "Worker-" + std::to_string(worker);
}

/// A job as this run requested it and as the store knows it. The job's state decides whether there is something to do.
struct RequestedJob {
  Submitted known{};
  const BatchJob* job = nullptr;
  std::optional<Seconds> audio{};  // its length, if it was declared
  std::string left_staged{};       // done, but its outputs are not in place: why; as far as this run goes it has failed
};

/// A job as the run knows it.
struct BatchEntry {
  const BatchJob* job = nullptr;
  StoreTime submitted{};                     // it has waited since then, also before this run
  Seconds audio{};                           // known or guessed from the file's size; 0: neither
  std::optional<Seconds> declared_length{};  // its length, if it was declared when the run began
  Seconds requested{};                       // length of what its transcript covers: the part within the clips to be
                                             // transcribed
  std::optional<JobEngine::Use> use{};       // once this run has transcribed it, and not copied
  std::size_t number = 0;                    // among those that this run has begun, from 1; 0: not yet
  std::size_t started = 0;                   // among those that have started on a device or ended, from 1; 0: not yet
  std::string left_staged{};                 // done, but its outputs are not in place: why
  std::vector<KeptFile> kept_files{};        // at the names of its outputs, which this run found and left
  std::vector<std::string> losses{};         // what damage in its file cost, where this run has decoded it
  std::vector<std::string> notes{};          // what was chosen of its file, likewise
  bool without_speech = false;               // the transcript of this run has no text
  bool seen_elsewhere = false;               // another process held it when this run wanted to claim it
};

/// One claim of a job, from the store's lease to its end.
struct BatchAttempt {
  std::size_t index = 0;
  std::size_t worker = 1;  // the least number that no other attempt in flight has
  Lease lease{};
  const BatchJob* job = nullptr;
  Seconds length{};
  std::atomic<double> position{0};  // seconds of the recording
  std::unique_ptr<JobEngine> engine{};
  std::optional<TranscriptionContext> context{};
  std::atomic<bool> no_space{false};  // for its decoded audio
  bool decoded = false;               // its audio is there; under the lock
  bool publishing = false;            // its lease ends with that; under the lock
  std::atomic<bool> settled{false};   // the store knows how it ended, or another process holds the lease
};

/// An attempt that is recorded as done, and whose outputs are staged elsewhere until their own disk has space.
struct KeptResult {
  std::size_t index = 0;  // position of the attempt in the list of attempts
  JobEngine::Use use{};
  bool copied = false;
  std::unique_ptr<DiskSpaceWait::Waiting> waiting{};
};

/// What is in work: an attempt that has not settled.
struct AttemptStatus {
  JobId id = 0;
  std::string name{};
  std::string devices{};  // where it has windows in flight, separated by commas
  bool decoded = false;
  bool no_space = false;    // for its decoded audio
  bool publishing = false;  // its transcript is there
  /// Something is being done for it now; else it waits for a device or for disk space.
  bool is_running() const { return !devices.empty() || publishing || (!decoded && !no_space); }
  Seconds position{};
  Seconds length{};
};

}  // namespace tutti
