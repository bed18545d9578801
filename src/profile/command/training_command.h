#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "advise/training_phases.h"
#include "base/error.h"
#include "profile/command/command_run.h"
#include "profile/device_choice.h"

namespace tutti {

/// What `tutti profile train` trains: a few steps with the user's own model and data.
struct TrainingToProfile {
  std::string task{};              ///< "whisper", "classifier", "tts", "vocoder"
  std::filesystem::path config{};  ///< the recipe; empty: none
  std::string model{};             ///< to begin with; empty: the recipe's
  std::filesystem::path data{};    ///< empty: the recipe's
  std::int32_t batch_size = 0;     ///< 0: the recipe's
  std::int32_t steps = 100;        ///< that are measured
  std::string data_gpu{};       ///< computes the features: "0", "cuda:0", "cpu", "cpu:1", "model"; empty: the recipe's
  std::string model_gpu{};      ///< trains
  bool no_data_device = false;  ///< against the recipe
};

/// Fault::usage where one of the devices is a core and the other something else: a training has all of the cores, or
/// these. A voice's training keeps to its cores itself.
Result<void> check_training_cores(const TrainingToProfile& training);

/// The command line that trains `steps` steps into the folder `out`, and evaluates nothing.
std::vector<std::string> training_command(const TrainingToProfile& training, int steps,
                                          const std::filesystem::path& out);

/// The cores that a training may use on these devices, which it does not keep to by itself; empty: all.
std::vector<int> cores_within(const TrainingDevices& devices, const std::string& task);

/// Where the training of that task ("tts") and recipe computes; what `named` names comes first. `recipe_file`: empty:
/// none. `named` may name GPUs by their numbers, and the model's device "model". Fault::usage and those of reading
/// where the recipe is none.
Result<TrainingDevices> training_devices_of(const std::string& task, const std::filesystem::path& recipe_file,
                                            const TrainingDevices& named);

/// Runs a command for its recording alone.
using RecordRun = std::function<ProfileEnd(const CommandProfile& profile)>;

/// Trains in rounds without a data device, with the features on the model's, and with both, until it is decided which
/// is faster. `two`: the phases of a step with both, as `profile` found them; `out`: a folder for each training, which
/// goes with it. Blocks. Fault::cancelled where the user has interrupted, Fault::unavailable where one of them failed.
Result<DeviceChoice> compare_devices(const TrainingToProfile& training, const CommandProfile& profile,
                                     const StepPhases& two, const std::filesystem::path& out, const RecordRun& record);

}  // namespace tutti
