#include "profile/command/training_command.h"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/try.h"
#include "device/machine_devices.h"
#include "device/topology/topology.h"
#include "profile/recorded_run.h"
#include "recipe/recipe_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kComparedSteps = 50;  // of each way in a round

/// The note calls GPUs by their numbers, and "cuda" alone is the first.
std::string device_named(const std::string& name) {
  if (name == "auto") return find_devices().visible.empty() ? "cpu" : "cuda:0";
  if (name == "cuda") return "cuda:0";
  return number_in<int>(name) ? "cuda:" + name : name;
}

/// N of "cpu:N".
std::optional<int> core_of(const std::string& device) {
  constexpr std::string_view kCore = "cpu:";
  const auto core = device.starts_with(kCore) ? number_in<int>(device.substr(kCore.size())) : std::nullopt;
  return core && *core >= 0 && *core < CPU_SETSIZE ? core : std::nullopt;
}

/// The cores that devices of the form cpu:N are; empty: there is none of them, so all.
std::vector<int> cores_of(const TrainingDevices& devices) {
  std::vector<int> cores;
  for (const std::string& device : {devices.data, devices.model})
    if (const auto core = core_of(device)) cores.push_back(*core);
  return cores;
}

/// A Whisper's training has all of the cores, or those of both devices. A voice's keeps to its cores itself.
bool keeps_to_cores(const std::string& task) {
  return task == kTtsTraining;
}

/// A core is the processor to such a training, which may use no other then.
std::string without_core(const std::string& device, const std::string& task) {
  return core_of(device) && !keeps_to_cores(task) ? "cpu" : device_named(device);
}

/// "PIX" between two of the machine's GPUs; none: one is no GPU, or nothing is known of them.
std::optional<std::string> link_between(const std::string& a, const std::string& b) {
  const auto index = [](const std::string& device) {
    constexpr std::string_view kGpu = "cuda:";
    return device.starts_with(kGpu) ? number_in<std::size_t>(device.substr(kGpu.size())) : std::nullopt;
  };
  const auto from = index(a), to = index(b);
  if (!from || !to) return std::nullopt;
  const auto topology = find_topology();
  if (!topology || *from >= topology->paths.size() || *to >= topology->paths[*from].size()) return std::nullopt;
  const auto& path = topology->paths[*from][*to];
  return path ? std::optional(path->name()) : std::nullopt;
}

/// The rate of some steps on those cores; 0: the training ended otherwise; none: the user has interrupted.
std::optional<double> compared_rate(const TrainingToProfile& training, const CommandProfile& profile,
                                    const std::vector<int>& cores, const fs::path& out, const RecordRun& record) {
  CommandProfile other = profile;
  other.command = training_command(training, profile.training->warm_up + std::min(training.steps, kComparedSteps), out);
  other.cores = cores;
  const ProfileEnd end = record(other);
  std::error_code ignored;
  fs::remove_all(out, ignored);
  if (end.code == kInterrupted) return std::nullopt;
  return end.code == kDone && end.recording ? rate_of(*end.recording) : 0;
}

/// Trains in all three ways, every second time the other way round. None: the user has interrupted.
std::optional<DeviceRound> compared_round(const TrainingToProfile& training, const CommandProfile& profile,
                                          const fs::path& out, const DeviceChoice& so_far, const RecordRun& record) {
  const TrainingDevices& devices = profile.training->devices;
  const auto alone = cores_within({.model = devices.model}, training.task);
  const bool has_none = so_far.rounds.empty() || so_far.rounds.front().none > 0;
  TrainingToProfile without = training, on_one = training;
  without.no_data_device = true;
  on_one.data_gpu = "model";
  struct Way {
    double DeviceRound::*rate;
    const TrainingToProfile* training;
    const std::vector<int>* cores;
  };
  std::vector<Way> ways{{&DeviceRound::one, &on_one, &alone}, {&DeviceRound::two, &training, &profile.cores}};
  if (has_none) ways.insert(ways.begin(), Way{&DeviceRound::none, &without, &profile.cores});
  if (so_far.rounds.size() % 2 == 1) std::ranges::reverse(ways);
  DeviceRound round;
  for (const Way& way : ways) {
    const auto rate = compared_rate(*way.training, profile, *way.cores, out, record);
    if (!rate) return std::nullopt;
    round.*way.rate = *rate;
  }
  return round;
}

TrainingDevices devices_of(const WhisperRecipe& recipe) {
  const auto& several = recipe.hardware.devices;
  return {recipe.hardware.data_gpu, several.empty() ? recipe.arithmetic.device : several};
}
TrainingDevices devices_of(const TtsRecipe& recipe) {
  return {recipe.data.gpu, recipe.arithmetic.device};
}
TrainingDevices devices_of(const auto& recipe) {
  return {.model = recipe.arithmetic.device};
}

/// As the recipe names them; of a Whisper's several processes their list.
Result<TrainingDevices> devices_in(const std::string& task, const std::string& toml, const std::string& file_name) {
  const auto read = [&](auto recipe) {
    return read_recipe(toml, file_name, std::move(recipe)).map([](const auto& one) { return devices_of(one); });
  };
  if (task == kTtsTraining) return read(TtsRecipe());
  if (task == kVocoderTraining) return read(VocoderRecipe());
  return task == kClassifierTraining ? read(ClassifierRecipe()) : read(WhisperRecipe());
}

}  // namespace

Result<void> check_training_cores(const TrainingToProfile& f) {
  if (keeps_to_cores(f.task)) return {};
  const bool data_is_other = !f.data_gpu.empty() && f.data_gpu != "model" && !core_of(f.data_gpu);
  const bool model_is_other = !core_of(f.model_gpu);
  if ((core_of(f.data_gpu) && model_is_other) || (core_of(f.model_gpu) && data_is_other))
    return fail(Fault::usage,
                field("data_gpu") + ", " + field("model_gpu") +
                    ": expected a core for both, such as cpu:0 and cpu:1, found '" + f.data_gpu + "' and '" +
                    f.model_gpu + "'",
                "Write cpu for all cores");
  return {};
}

std::vector<std::string> training_command(const TrainingToProfile& f, int steps, const fs::path& out) {
  const std::string& task = f.task;
  std::vector<std::string> command{"tutti", "train", task};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {flag, value});
  };
  add("--config", f.config.string());
  add("--model", f.model);
  add(task == kTtsTraining || task == kVocoderTraining ? "--train-data" : "--data", f.data.string());
  if (f.batch_size > 0) add("--batch-size", std::to_string(f.batch_size));
  if (f.no_data_device)
    command.insert(command.end(), {"--data-gpu", ""});
  else
    add("--data-gpu", without_core(f.data_gpu, task));
  if (!f.model_gpu.empty() && task == kWhisperTraining) command.insert(command.end(), {"--devices", ""});
  add("--device", without_core(f.model_gpu, task));
  if (core_of(f.model_gpu) && !keeps_to_cores(task)) command.insert(command.end(), {"--compute-threads", "1"});
  add("--max-steps", std::to_string(steps));
  add("--epochs", "0");
  add("--eval-steps", std::to_string(steps + 1));  // never: what is measured is steps
  add("--log-steps", "20");
  add("--out", out.string());
  return command;
}

std::vector<int> cores_within(const TrainingDevices& devices, const std::string& task) {
  return keeps_to_cores(task) ? std::vector<int>() : cores_of(devices);
}

Result<TrainingDevices> training_devices_of(const std::string& task, const fs::path& recipe_file,
                                            const TrainingDevices& flags) {
  std::string text;
  if (!recipe_file.empty()) {
    text = TRY(read_file(recipe_file));
  }
  const auto recipe = TRY(devices_in(task, text, recipe_file.string()));
  const std::string& data = flags.data.empty() ? recipe.data : flags.data;
  TrainingDevices devices{.data = data.empty() ? "cpu" : device_named(data),
                          .model = device_named(flags.model.empty() ? recipe.model : flags.model)};
  if (devices.data == "model") devices.data = devices.model;
  return devices;
}

Result<DeviceChoice> compare_devices(const TrainingToProfile& training, const CommandProfile& profile,
                                     const StepPhases& two, const fs::path& out, const RecordRun& record) {
  const TrainingDevices& devices = profile.training->devices;
  DeviceChoice choice{.data = devices.data,
                      .model = devices.model,
                      .bound = two_devices(two).gain,
                      .copying = two.transfer.times.mean,
                      .link = link_between(devices.data, devices.model)};
  do {
    const auto round = compared_round(training, profile, out, choice, record);
    if (!round) return fail(Fault::cancelled, "interrupted");
    if (round->one <= 0 || round->two <= 0)
      return fail(Fault::unavailable, "the devices were not compared: a training with one of them failed");
    choice.rounds.push_back(*round);
  } while (choice.rounds.size() < kMostDeviceRounds && choice.worth() == DeviceWorth::not_known);
  return choice;
}

}  // namespace tutti
