#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/temporary_folder.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/profile/command_profile.h"
#include "profile/command/training_command.h"
#include "profile/device_choice.h"
#include "recipe/recipe_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kMostSteps = 1000000;

struct TrainProfileFlags {
  std::vector<std::string> tasks{};  // the first counts
  TrainingToProfile training{};
  bool no_gpu_monitoring = false;
  bool one_way = false;
  bool json = false;
  fs::path html{};
};

void add_flags(OptionTable& table, TrainProfileFlags& f) {
  table.positional(f.tasks, "[whisper|classifier|tts|vocoder]", "the training; default: whisper", 0);
  table.add("config", f.training.config, "FILE.toml", "the recipe of the training, as 'tutti train' takes it");
  table.add("model", f.training.model, "NAME", "the model, or voice, to begin with; default: the recipe's");
  table.add(
      "data", f.training.data, "PATH",
      "what to train with: recordings for a Whisper, else a set that 'tutti prepare' made; default: the recipe's");
  table.add("batch-size", f.training.batch_size, "N", "samples in a batch; 0: the recipe's");
  table.add("num-steps", f.training.steps, "N", "steps that are measured, behind 5 that are not");
  table.add("data-gpu", f.training.data_gpu, "DEVICE",
            "computes the features of a Whisper, or of a voice whose set has waveforms: 0, 1, ... of the GPUs, cuda:N, "
            "cpu, cpu:N (core N) or model; default: the feed's threads, or the set");
  table.add(
      "model-gpu", f.training.model_gpu, "DEVICE",
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

/// A flag that a training has no use for.
struct UnfitFlag {
  std::string_view task;
  const char* flag;
  const char* why;
};
constexpr UnfitFlag kUnfit[] = {
    {kClassifierTraining, "data-gpu", "a classifier's set holds its spectrograms, so no device computes them"},
    {kClassifierTraining, "model", "a classifier begins with a new network"},
    {kVocoderTraining, "data-gpu", "a vocoder's spectrograms are made by the thread that gathers its batches"},
    {kVocoderTraining, "model", "a vocoder begins with a new network"}};

Result<void> check_flags(const OptionTable& table, const TrainProfileFlags& f, const std::string& task) {
  const std::vector<std::string> tasks{std::string(kWhisperTraining), std::string(kClassifierTraining),
                                       std::string(kTtsTraining), std::string(kVocoderTraining)};
  if (std::ranges::find(tasks, task) == tasks.end())
    return fail(Fault::usage, "'" + task + "': expected " + joined(tasks, ", "), "See 'tutti profile train --help'");
  if (f.tasks.size() > 1) return fail(Fault::usage, "'" + f.tasks[1] + "': expected one training");
  if (f.training.steps < 1 || f.training.steps > kMostSteps)
    return fail(Fault::usage, "--num-steps: expected 1 to " + std::to_string(kMostSteps) + ", found " +
                                  std::to_string(f.training.steps));
  if (f.training.batch_size < 0) return fail(Fault::usage, "--batch-size: expected 0 or more");
  for (const UnfitFlag& unfit : kUnfit)
    if (unfit.task == task && table.is_changed(unfit.flag))
      return fail(Fault::usage, "--" + std::string(unfit.flag) + ": " + unfit.why);
  return check_training_cores(f.training);
}

/// The exit code.
int print_comparison(const TrainProfileFlags& flags, const CommandProfile& profile, const RunRecording& two,
                     const fs::path& out) {
  if (!two.phases) return kDone;
  const auto choice = compare_devices(flags.training, profile, *two.phases, out, record_command);
  if (!choice && choice.error().fault == Fault::cancelled) return kInterrupted;
  if (!choice) return complain(choice.error(), kNothingRan);
  std::fputs((flags.json ? device_choice_json(*choice) + "\n" : "\n" + device_choice_text(*choice)).c_str(), stderr);
  return kDone;
}

}  // namespace

int run_train_profile(const std::vector<std::string>& arguments) {
  TrainProfileFlags flags;
  OptionTable table("profile train",
                    "Train for a few steps with your own model and data, and say which phase of a step limits it: data "
                    "load, preprocess, copy or training. What the training writes is thrown away.");
  add_flags(table, flags);
  table.reads_flags_alone();
  if (const auto code = start_command(table, arguments)) return *code;
  const std::string task = flags.tasks.empty() ? std::string(kWhisperTraining) : flags.tasks.front();
  TrainingToProfile& wanted = flags.training;
  wanted.task = task;
  if (const auto checked = check_flags(table, flags, task); !checked) return complain(checked.error(), kUsage);
  auto devices = training_devices_of(task, wanted.config, {wanted.data_gpu, wanted.model_gpu});
  if (!devices) return complain(devices.error(), kUsage);
  const TemporaryFolder out;
  if (!out.path()) return complain(out.path().error(), kNothingRan);
  const bool both =
      !flags.one_way && !wanted.data_gpu.empty() && !wanted.model_gpu.empty() && devices->data != devices->model;
  const TrainingProfile training{.watches_gpus = !flags.no_gpu_monitoring, .devices = std::move(*devices)};
  const CommandProfile profile{
      .command = training_command(wanted, wanted.steps + training.warm_up, *out.path() / "training"),
      .json = flags.json,
      .html = flags.html,
      .cores = cores_within(training.devices, task),
      .training = training};
  const ProfileEnd end = profile_command(profile);
  if (end.code != kDone || !end.recording || !both) return end.code;
  return print_comparison(flags, profile, *end.recording, *out.path() / "compared");
}

}  // namespace tutti
