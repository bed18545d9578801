#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/profile/command_profile.h"
#include "cli/temporary_folder.h"
#include "device/machine_devices.h"
#include "device/topology/topology.h"
#include "profile/device_choice.h"
#include "recipe/recipe_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kMostSteps = 1000000;
constexpr std::int32_t kComparedSteps = 50;  // of each way in a round

struct TrainProfileFlags {
  std::vector<std::string> tasks{};  // the first counts
  fs::path config{};
  std::string model{};
  fs::path data{};
  std::int32_t batch_size = 0;
  std::int32_t num_steps = 100;
  std::string data_gpu{};
  std::string model_gpu{};
  bool no_data_device = false;  // against the recipe; of the comparison alone
  bool no_gpu_monitoring = false;
  bool one_way = false;
  bool json = false;
  fs::path html{};
};

void add_flags(OptionTable& table, TrainProfileFlags& f) {
  table.positional(f.tasks, "[whisper|classifier|tts|vocoder]", "the training; default: whisper", 0);
  table.add("config", f.config, "FILE.toml", "the recipe of the training, as 'tutti train' takes it");
  table.add("model", f.model, "NAME", "the model, or voice, to begin with; default: the recipe's");
  table.add(
      "data", f.data, "PATH",
      "what to train with: recordings for a Whisper, else a set that 'tutti prepare' made; default: the recipe's");
  table.add("batch-size", f.batch_size, "N", "samples in a batch; 0: the recipe's");
  table.add("num-steps", f.num_steps, "N", "steps that are measured, behind 5 that are not");
  table.add("data-gpu", f.data_gpu, "DEVICE",
            "computes the features of a Whisper, or of a voice whose set has waveforms: 0, 1, ... of the GPUs, cuda:N, "
            "cpu, cpu:N (core N) or model; default: the feed's threads, or the set");
  table.add(
      "model-gpu", f.model_gpu, "DEVICE",
      "trains: 0, 1, ... of the GPUs, cuda:N, cpu or cpu:N (core N, with one thread); default: the recipe's. With "
      "another --data-gpu, rounds of 50 steps follow: without a data device, with the features on this one, and with "
      "both, until the second one's worth is decided, 6 at most");
  table.add_switch("one-way", f.one_way, "leave that comparison out");
  table.add_switch("no-gpu-monitoring", f.no_gpu_monitoring,
                   "do not read the GPUs' utilisation, which is done ten times a second");
  table.add("html", f.html, "FILE", "also write the profile as a page");
  table.add_switch("json", f.json, "one JSON object, on standard error, instead of tables");
  table.examples({"tutti profile train --config recipe.toml --data corpus --batch-size 16 --num-steps 100",
                  "tutti profile train --config recipe.toml --data-gpu 0 --model-gpu 1",
                  "tutti profile train tts --data voice-set --batch-size 16 --data-gpu 0 --model-gpu 1"});
}

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

/// Fault::usage where one of them is a core and the other something else: a training has all of the cores, or these.
Result<void> check_cores(const TrainProfileFlags& f) {
  const bool data_is_other = !f.data_gpu.empty() && f.data_gpu != "model" && !core_of(f.data_gpu);
  const bool model_is_other = !core_of(f.model_gpu);
  if ((core_of(f.data_gpu) && model_is_other) || (core_of(f.model_gpu) && data_is_other))
    return fail(Fault::usage,
                "--data-gpu, --model-gpu: expected a core for both, such as cpu:0 and cpu:1, found '" + f.data_gpu +
                    "' and '" + f.model_gpu + "'",
                "Write cpu for all cores");
  return {};
}

Result<void> check_flags(const TrainProfileFlags& f, const std::string& task) {
  const std::vector<std::string> tasks{std::string(kWhisperTraining), std::string(kClassifierTraining),
                                       std::string(kTtsTraining), std::string(kVocoderTraining)};
  if (std::ranges::find(tasks, task) == tasks.end())
    return fail(Fault::usage, "'" + task + "': expected " + joined(tasks, ", "), "See 'tutti profile train --help'");
  if (f.tasks.size() > 1) return fail(Fault::usage, "'" + f.tasks[1] + "': expected one training");
  if (f.num_steps < 1 || f.num_steps > kMostSteps)
    return fail(Fault::usage,
                "--num-steps: expected 1 to " + std::to_string(kMostSteps) + ", found " + std::to_string(f.num_steps));
  if (f.batch_size < 0) return fail(Fault::usage, "--batch-size: expected 0 or more");
  if (task == kClassifierTraining && !f.data_gpu.empty())
    return fail(Fault::usage, "--data-gpu: a classifier's set holds its spectrograms, so no device computes them");
  if (task == kClassifierTraining && !f.model.empty())
    return fail(Fault::usage, "--model: a classifier begins with a new network");
  if (task == kVocoderTraining && !f.data_gpu.empty())
    return fail(Fault::usage, "--data-gpu: a vocoder's spectrograms are made by the thread that gathers its batches");
  if (task == kVocoderTraining && !f.model.empty())
    return fail(Fault::usage, "--model: a vocoder begins with a new network");
  return keeps_to_cores(task) ? Result<void>() : check_cores(f);
}

/// A core is the processor to such a training, which may use no other then.
std::string without_core(const std::string& device, const std::string& task) {
  return core_of(device) && !keeps_to_cores(task) ? "cpu" : device_named(device);
}

std::vector<std::string> command_of(const TrainProfileFlags& f, const std::string& task, int steps,
                                    const fs::path& out) {
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

/// The cores that the training itself does not keep to; empty: all.
std::vector<int> cores_within(const TrainingDevices& devices, const std::string& task) {
  return keeps_to_cores(task) ? std::vector<int>() : cores_of(devices);
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
std::optional<double> compared_rate(const TrainProfileFlags& flags, const CommandProfile& profile,
                                    const std::vector<int>& cores, const fs::path& out) {
  CommandProfile other = profile;
  other.command =
      command_of(flags, profile.command[2], profile.training->warm_up + std::min(flags.num_steps, kComparedSteps), out);
  other.cores = cores;
  const ProfileEnd end = record_command(other);
  std::error_code ignored;
  fs::remove_all(out, ignored);
  if (end.code == kInterrupted) return std::nullopt;
  return end.code == kDone && end.recording ? rate_of(*end.recording) : 0;
}

/// Trains in all three ways, every second time the other way round. None: the user has interrupted.
std::optional<DeviceRound> compared_round(const TrainProfileFlags& flags, const CommandProfile& profile,
                                          const fs::path& out, const DeviceChoice& so_far) {
  const TrainingDevices& devices = profile.training->devices;
  const auto alone = cores_within({.model = devices.model}, profile.command[2]);
  const bool has_none = so_far.rounds.empty() || so_far.rounds.front().none > 0;
  TrainProfileFlags without = flags, on_one = flags;
  without.no_data_device = true;
  on_one.data_gpu = "model";
  struct Way {
    double DeviceRound::*rate;
    const TrainProfileFlags* flags;
    const std::vector<int>* cores;
  };
  std::vector<Way> ways{{&DeviceRound::one, &on_one, &alone}, {&DeviceRound::two, &flags, &profile.cores}};
  if (has_none) ways.insert(ways.begin(), Way{&DeviceRound::none, &without, &profile.cores});
  if (so_far.rounds.size() % 2 == 1) std::ranges::reverse(ways);
  DeviceRound round;
  for (const Way& way : ways) {
    const auto rate = compared_rate(*way.flags, profile, *way.cores, out);
    if (!rate) return std::nullopt;
    round.*way.rate = *rate;
  }
  return round;
}

/// Trains in rounds without a data device, with the features on the model's, and with both, until it is decided which
/// is faster. The exit code.
int compare_devices(const TrainProfileFlags& flags, const CommandProfile& profile, const RunRecording& two,
                    const fs::path& out) {
  if (!two.phases) return kDone;
  const TrainingDevices& devices = profile.training->devices;
  DeviceChoice choice{.data = devices.data,
                      .model = devices.model,
                      .bound = two_devices(*two.phases).gain,
                      .copying = two.phases->transfer.times.mean,
                      .link = link_between(devices.data, devices.model)};
  do {
    const auto round = compared_round(flags, profile, out, choice);
    if (!round) return kInterrupted;
    if (round->one <= 0 || round->two <= 0)
      return complain({Fault::unavailable, "the devices were not compared: a training with one of them failed"},
                      kNothingRan);
    choice.rounds.push_back(*round);
  } while (choice.rounds.size() < kMostDeviceRounds && choice.worth() == DeviceWorth::not_known);
  std::fputs((flags.json ? device_choice_json(choice) + "\n" : "\n" + device_choice_text(choice)).c_str(), stderr);
  return kDone;
}

/// As the recipe names them; of a Whisper's several processes their list.
Result<TrainingDevices> devices_in(const std::string& task, const std::string& toml, const std::string& file_name) {
  if (task == kTtsTraining)
    return read_tts_recipe(toml, file_name).map([](const TtsRecipe& recipe) {
      return TrainingDevices{recipe.data_gpu, recipe.device};
    });
  if (task == kVocoderTraining)
    return read_vocoder_recipe(toml, file_name).map([](const VocoderRecipe& recipe) {
      return TrainingDevices{.model = recipe.device};
    });
  if (task == kClassifierTraining)
    return read_classifier_recipe(toml, file_name).map([](const ClassifierRecipe& recipe) {
      return TrainingDevices{.model = recipe.device};
    });
  return read_recipe(toml, file_name).map([](const WhisperRecipe& recipe) {
    return TrainingDevices{recipe.data_gpu, recipe.devices.empty() ? recipe.device : recipe.devices};
  });
}

}  // namespace

Result<TrainingDevices> training_devices_of(const std::string& task, const fs::path& recipe_file,
                                            const TrainingDevices& flags) {
  std::string text;
  if (!recipe_file.empty()) {
    auto read = read_file(recipe_file);
    if (!read) return tl::unexpected(read.error());
    text = std::move(*read);
  }
  const auto recipe = devices_in(task, text, recipe_file.string());
  if (!recipe) return tl::unexpected(recipe.error());
  const std::string& data = flags.data.empty() ? recipe->data : flags.data;
  TrainingDevices devices{.data = data.empty() ? "cpu" : device_named(data),
                          .model = device_named(flags.model.empty() ? recipe->model : flags.model)};
  if (devices.data == "model") devices.data = devices.model;
  return devices;
}

int run_train_profile(const std::vector<std::string>& arguments) {
  TrainProfileFlags flags;
  OptionTable table("profile train",
                    "Train for a few steps with your own model and data, and say which phase of a step limits it: data "
                    "load, preprocess, copy or training. What the training writes is thrown away.");
  add_flags(table, flags);
  table.reads_flags_alone();
  if (const auto code = start_command(table, arguments)) return *code;
  const std::string task = flags.tasks.empty() ? std::string(kWhisperTraining) : flags.tasks.front();
  if (const auto checked = check_flags(flags, task); !checked) return complain(checked.error(), kUsage);
  auto devices = training_devices_of(task, flags.config, {flags.data_gpu, flags.model_gpu});
  if (!devices) return complain(devices.error(), kUsage);
  const TemporaryFolder out;
  if (!out.path()) return complain(out.path().error(), kNothingRan);
  const bool both =
      !flags.one_way && !flags.data_gpu.empty() && !flags.model_gpu.empty() && devices->data != devices->model;
  const TrainingProfile training{.watches_gpus = !flags.no_gpu_monitoring, .devices = std::move(*devices)};
  const CommandProfile profile{
      .command = command_of(flags, task, flags.num_steps + training.warm_up, *out.path() / "training"),
      .json = flags.json,
      .html = flags.html,
      .cores = cores_within(training.devices, task),
      .training = training};
  const ProfileEnd end = profile_command(profile);
  if (end.code != kDone || !end.recording || !both) return end.code;
  return compare_devices(flags, profile, *end.recording, *out.path() / "compared");
}

}  // namespace tutti
