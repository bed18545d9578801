#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "base/error.h"
#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "base/units.h"
#include "profile/gpu_watch.h"
#include "profile/machine_watch.h"
#include "profile/phase_table.h"

namespace tutti {

/// Where a training computes: "cuda:0", "cpu".
struct TrainingDevices {
  std::string data{};   ///< the features
  std::string model{};  ///< the steps; of several processes the recipe's list, "cuda:0,cuda:1"
};

/// What `tutti profile train` has beside its command.
struct TrainingProfile {
  int warm_up = 5;           ///< steps that are not recorded
  bool watches_gpus = true;  ///< ten times a second
  TrainingDevices devices{};
};

/// What `tutti profile -- tutti COMMAND …` was called with.
struct CommandProfile {
  std::vector<std::string> command{};  ///< the program, its command and arguments
  double seconds = 0;                  ///< then the command is stopped as Ctrl+C stops it; 0: it ends by itself
  bool json = false;
  std::filesystem::path html{};               ///< also write the profile as this page; empty: none
  std::filesystem::path trace{};              ///< the first run writes this trace (--trace); empty: none
  bool prove = false;                         ///< run again with the first fix, or with `apply`
  bool experiment = false;                    ///< run again for each stage, with that one twice as fast
  bool tune = false;                          ///< run again with the threads that replay fastest
  std::optional<int> threads_budget{};        ///< threads `tune` gives all stages; none: no bound but what gains
  std::optional<Bytes> memory{};              ///< that `tune` lets the command's largest process have; none: no bound
  std::string apply{};                        ///< changes to run again with, comma-separated; empty: the first fix
  std::vector<int> cores{};                   ///< those that the command may run on; empty: all of ours
  std::optional<TrainingProfile> training{};  ///< field note 002's table goes before the profile; none: no such table
};

/// How a run of the command ended, and what it recorded.
struct CommandRun {
  int code = kDone;
  MachineEvidence machine{};
  Bytes memory{};                // of the largest process, at its most
  std::map<int, GpuUse> gpus{};  // by N of cuda:N
  Result<RunRecording> recording = fail(Fault::missing, "");
};

/// How a profile ended.
struct ProfileEnd {
  int code = 0;
  std::optional<RunRecording> recording{};  ///< of the first run; none: nothing was measured
};

/// Whether it came to nothing that can be looked at.
bool has_failed(const CommandRun& run);

/// Waits for the end of the command, and returns its exit code. That of one which was stopped as the user stops it, and
/// ended so, counts as kDone.
using WaitForEnd = std::function<int(Child& child)>;

/// Runs the command in a child process that records itself, and reads the recording; what the machine counted meanwhile
/// is there, too. `more`: flags behind the command's own; `sped_up`: the stage of an experiment, empty: it is none.
/// Blocks. Errors: it could not be started.
Result<CommandRun> run_recorded(const CommandProfile& profile, const std::vector<std::string>& more,
                                ChildStreams streams, const std::string& sped_up, const WaitForEnd& wait);

/// The memory that the largest of the children that have ended had at its most.
Bytes most_child_memory();

/// Where the training computed, and what its devices did.
PhaseDevices phase_devices(const TrainingProfile& training, const CommandRun& run);

/// Whether the command is one of tutti's: other programs are profiled from outside.
bool is_own_command(const std::vector<std::string>& command);

/// Why a command line cannot be profiled; none: it can.
std::optional<std::string> why_not_profiled(const std::vector<std::string>& command);

/// Why not each stage of the command can be held back for an experiment; none: it can.
std::optional<std::string> why_no_experiment(const std::vector<std::string>& command);

}  // namespace tutti
