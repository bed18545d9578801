#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "jobs/history.h"
#include "jobs/job.h"
#include "jobs/publish.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/events.h"
#include "transcribe/pool/device_pool.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What became of one recording.
struct BatchAsset {
  std::string uuid{};
  std::string name{};
  std::string status{};  // done, failed, cancelled, pending
  std::string error{};
  std::string device{};
  int attempts = 0;
  std::vector<Attempt> tries{};  // each of them, where it has failed or took more than one
  Seconds audio{};
  Seconds requested{};  // part of `audio` within the clips to be transcribed in this run; without clips, all of it
  std::vector<KeptFile> kept_files{};        // at the names of its outputs: this run left them, and wrote beside them
  std::vector<std::string> losses{};         // what damage in its file cost, where this run has decoded it
  std::vector<std::string> notes{};          // what was chosen of its file, likewise
  bool without_speech = false;               // the transcript that this run has written has no text
  std::size_t replacements = 0;              // texts that were replaced in it
  std::optional<Seconds> busy{};             // device time that it took in this run, by the pool's clock
  std::map<std::string, Seconds> busy_on{};  // of `busy`, by device
  std::string extra = "{}";                  // what its list holds about it beside what Tutti knows, a JSON object
};

/// Another run on a store that machines share, which was at work in the time of this one.
struct OtherRunner {
  std::string name{};               // the machine and the process, "HOST.PID"
  RunState state{};                 // at the end of this run
  Seconds joined{};                 // after the start of this run; negative: it was there before
  Seconds present{};                // from then, or from the start of this run, to its end or latest heartbeat
  std::optional<Seconds> silent{};  // lost: since its latest heartbeat
  Seconds audio{};                  // transcribed, in all its time
  std::vector<DeviceStatus> devices{};
};

struct BatchReport {
  std::vector<OtherRunner> runners{};  // in the order in which they began; none on a store of one machine
  BatchCounts counts{};
  BatchCounts before{};            // jobs of `counts` that earlier runs had ended
  std::size_t done_now = 0;        // recordings that were done in this run
  std::size_t without_speech = 0;  // recordings of `done_now` whose transcripts have no text
  std::size_t replacements = 0;    // texts that were replaced in the transcripts of `done_now`
  std::size_t copied = 0;          // recordings of `done_now` with the transcript of another that has the same content
  std::chrono::system_clock::time_point started{}, ended{};
  Seconds elapsed{};                   // run time by the pool's clock
  double time = 1;                     // real seconds per second of that clock
  Seconds audio{};                     // transcribed in this run: the part within the clips that were to be transcribed
  std::vector<Seconds> transcribed{};  // the lengths of that, as they were known when it began
  bool has_retried = false;            // an attempt failed, and its job was to be tried again
  Seconds longest{};
  bool shared_files = true;  // windows of one file could run on several devices
  std::string policy{};      // that placed them
  std::string engine{};      // the engine of others that transcribed, with its version; empty: ours
  PoolView pool{};
  std::optional<double> energy_joules{};          // energy of all GPUs together, where all report it
  std::map<std::string, double> device_joules{};  // by device id, of those that say
  RunSummary summary{};
  std::vector<BatchAsset> assets{};
  bool interrupted = false;
  std::string ended_early{};  // why the devices gave up; empty: they did not
};

}  // namespace tutti
