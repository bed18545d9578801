#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/profile/child_watch.h"

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

/// How a profile ended.
struct ProfileEnd {
  int code = 0;
  std::optional<RunRecording> recording{};  ///< of the first run; none: nothing was measured
};

/// Waits for the end of the child, or stops it after `seconds` as Ctrl+C does; 0: it ends by itself. Its exit code;
/// that of a command which ends as interrupted then counts as done. kInterrupted where the user has interrupted.
int end_of(Child& child, ChildWatch& watch, double seconds);

/// Whether the command is one of tutti's: other programs are profiled from outside.
bool is_own_command(const std::vector<std::string>& command);

/// Runs any program with its streams as its own, and prints on standard error what its threads did: how long they ran,
/// waited for a core or a disk, or were blocked, and what limited it. The exit code is the program's own; kInterrupted
/// where the user has interrupted, kNothingRan where it was too short for anything to be seen.
int profile_program(const CommandProfile& profile);

/// Whether a command line is one that can be profiled: its fault for `complain`; none where it is.
std::optional<std::string> why_not_profiled(const std::vector<std::string>& command);

/// Whether each stage of the command can be held back for an experiment; else its fault for `complain`.
std::optional<std::string> why_no_experiment(const std::vector<std::string>& command);

/// Runs the command with its standard output as its own, reads the recording that it writes, and prints the profile on
/// standard error. With `prove` the command runs again with the fix, its output dropped, and the measured rate
/// is printed beside the predicted one. With `experiment` it runs again for each stage, as if that were twice as fast
/// (flow/virtual_clock.h), and a table of predicted and measured gains is printed.
///
/// What the machine counted meanwhile (other programs, quota, memory, heat) is named where it cost time.
///
/// The exit code is the command's own where it failed, kInterrupted where the user has interrupted, kNothingRan where
/// nothing was measured, kNotProven where a measured rate is outside of what was predicted.
ProfileEnd profile_command(const CommandProfile& profile);

/// The same without the profile: runs the command, its output dropped, for its recording alone.
ProfileEnd record_command(const CommandProfile& profile);

/// Where the training of that task ("tts") and recipe computes; what `flags` names comes first. `recipe_file`: empty:
/// none. `flags` may name GPUs by their numbers, and the model's device "model". Fault::usage and those of reading
/// where the recipe is none.
Result<TrainingDevices> training_devices_of(const std::string& task, const std::filesystem::path& recipe_file,
                                            const TrainingDevices& flags);

/// `tutti profile train`: a training of any task, of so many steps behind its warm-up, in a folder of its own that goes
/// with it, with field note 002's flags; prints the note's table and named rules, then the profile. `arguments`: the
/// words behind "train". Returns the exit code, as profile_command does.
int run_train_profile(const std::vector<std::string>& arguments);

}  // namespace tutti
