#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/profile/command_profile.h"
#include "cli/profile/temporary_folder.h"
#include "feed/recipe/recipe_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kMostSteps = 1000000;

struct TrainProfileFlags {
  fs::path config{};
  std::string model{};
  fs::path data{};
  std::int32_t batch_size = 0;
  std::int32_t num_steps = 100;
  std::string data_gpu{};
  std::string model_gpu{};
  bool no_gpu_monitoring = false;
  bool json = false;
  fs::path html{};
};

void add_flags(OptionTable& table, TrainProfileFlags& f) {
  table.add("config", f.config, "FILE.toml", "the recipe of the training, as 'tutti train whisper' takes it");
  table.add("model", f.model, "NAME", "the model to fine-tune; default: the recipe's");
  table.add("data", f.data, "PATH", "the recordings to train with; default: the recipe's");
  table.add("batch-size", f.batch_size, "N", "samples in a batch; 0: the recipe's");
  table.add("num-steps", f.num_steps, "N", "steps that are measured, behind 5 that are not");
  table.add("data-gpu", f.data_gpu, "DEVICE",
            "computes the features: 0, 1, ... of the GPUs, cuda:N, cpu or model; default: the feed's threads");
  table.add("model-gpu", f.model_gpu, "DEVICE", "trains: 0, 1, ... of the GPUs, cuda:N or cpu; default: the recipe's");
  table.add_switch("no-gpu-monitoring", f.no_gpu_monitoring,
                   "do not read the GPUs' utilisation, which is done ten times a second");
  table.add("html", f.html, "FILE", "also write the profile as a page");
  table.add_switch("json", f.json, "one JSON object, on standard error, instead of tables");
  table.examples({"tutti profile train --config recipe.toml --data corpus --batch-size 16 --num-steps 100",
                  "tutti profile train --config recipe.toml --data-gpu 0 --model-gpu 1"});
}

/// The note calls GPUs by their numbers, and "cuda" alone is the first.
std::string device_named(const std::string& name) {
  if (name == "cuda") return "cuda:0";
  return number_in<int>(name) ? "cuda:" + name : name;
}

std::vector<std::string> command_of(const TrainProfileFlags& f, int warm_up, const fs::path& out) {
  std::vector<std::string> command{"tutti", "train", "whisper"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {flag, value});
  };
  add("--config", f.config.string());
  add("--model", f.model);
  add("--data", f.data.string());
  if (f.batch_size > 0) add("--batch-size", std::to_string(f.batch_size));
  add("--data-gpu", device_named(f.data_gpu));
  if (!f.model_gpu.empty()) command.insert(command.end(), {"--devices", "", "--device", device_named(f.model_gpu)});
  add("--max-steps", std::to_string(f.num_steps + warm_up));
  add("--epochs", "0");
  add("--log-steps", "20");
  add("--out", (out / "training").string());
  return command;
}

}  // namespace

Result<TrainingDevices> training_devices_of(const fs::path& recipe_file, const TrainingDevices& flags) {
  WhisperRecipe recipe;
  if (!recipe_file.empty()) {
    const auto text = read_file(recipe_file);
    if (!text) return tl::unexpected(text.error());
    auto read = read_recipe(*text, recipe_file.string());
    if (!read) return tl::unexpected(read.error());
    recipe = std::move(*read);
  }
  const std::string& data = flags.data.empty() ? recipe.data_gpu : flags.data;
  TrainingDevices devices{.data = data.empty() ? "cpu" : device_named(data), .model = recipe.devices};
  if (!flags.model.empty() || recipe.devices.empty())
    devices.model = device_named(flags.model.empty() ? recipe.device : flags.model);
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
  if (flags.num_steps < 1 || flags.num_steps > kMostSteps)
    return complain({Fault::usage, "--num-steps: expected 1 to " + std::to_string(kMostSteps) + ", found " +
                                       std::to_string(flags.num_steps)},
                    kUsage);
  if (flags.batch_size < 0) return complain({Fault::usage, "--batch-size: expected 0 or more"}, kUsage);
  auto devices = training_devices_of(flags.config, {flags.data_gpu, flags.model_gpu});
  if (!devices) return complain(devices.error(), kUsage);
  const TemporaryFolder out;
  if (!out.path()) return complain(out.path().error(), kNothingRan);
  const TrainingProfile training{.watches_gpus = !flags.no_gpu_monitoring, .devices = std::move(*devices)};
  return profile_command({.command = command_of(flags, training.warm_up, *out.path()),
                          .json = flags.json,
                          .html = flags.html,
                          .training = training});
}

}  // namespace tutti
