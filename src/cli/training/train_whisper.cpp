#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/free_port.h"
#include "base/process/exit_code.h"
#include "base/process/process_rank.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "cli/training/recipe_flags.h"
#include "cli/training/training_run.h"
#include "device/machine.h"
#include "link/training_processes.h"
#include "recipe/recipe_file.h"
#include "recipe/trainers/loader_flags.h"
#include "recipe/trainers/trainer_names.h"
#include "recipe/whisper_fields.h"

namespace tutti {

template <>
std::vector<std::string> preset_names<WhisperRecipe>() {
  return whisper_preset_names();
}
template <>
std::string preset_text<WhisperRecipe>(const std::string& name) {
  return whisper_preset(name);
}

namespace {

namespace fs = std::filesystem;

struct TrainCommand : TrainingFlags<WhisperRecipe> {
  std::vector<ChosenDevice> devices{};  // a process for each; empty: one process on recipe.arithmetic.device
};

/// Flags of other trainers in our names, with the answers to those that do nothing here.
Result<LoaderFlags> in_our_spelling(const std::vector<std::string>& words) {
  auto others = without_loader_flags(words, "dataloader_", 0);
  if (!others) return others;
  others->words = TRY(in_our_names(others->words));
  return others;
}

/// Compute threads of one process: processes share the cores, and who has a core of its own cannot use more.
int usual_compute_threads(const TrainCommand& command) {
  const auto processes = std::max(1, static_cast<int>(command.devices.size()));
  const bool pinned = std::ranges::any_of(command.devices, [](const auto& it) { return it.device.core.has_value(); });
  return pinned ? 1 : std::max(1, read_cpu().cores / processes);
}

/// Invalid values are left to the engine to refuse.
ProcessRank rank_of_process() {
  return process_rank().value_or(ProcessRank{});
}

/// A process for every listed device, unless another program starts the processes.
Result<void> settle_devices(TrainCommand& command) {
  if (command.recipe.hardware.devices.empty()) return {};
  if (rank_of_process().ranks > 1)
    return fail(Fault::usage, "devices: this process is already one of several, by WORLD_SIZE or SLURM_NTASKS",
                "Say with --device where it computes, or unset the variables");
  auto devices = TRY(training_devices(command.recipe.hardware.devices));
  command.devices = std::move(devices);
  return {};
}

Result<void> settle(TrainCommand& command) {
  if (auto settled = settle_run(command.run); !settled) return settled;
  command.recipe.targets.language = TRY(language_code_of(command.recipe.targets.language));
  auto settled = settle_devices(command);
  if (settled) settled = settle_compute_threads(command, usual_compute_threads(command));
  if (settled) settled = check_recipe(command.recipe);
  return settled;
}

int run_processes(const TrainCommand& command, const std::vector<std::string>& line) {
  const auto doing = doing_of(command.run);
  if (command.devices.empty()) return run_engine(line, doing);
  const auto port = free_port();
  if (!port) return complain(port.error(), kNothingRan);
  return run_engines(training_processes(line, command.devices, *port), doing);
}

/// What a training reads beside its checkpoints.
std::vector<fs::path> sources_of(const TrainCommand& command, const fs::path& base) {
  std::vector<fs::path> read{base, command.recipe.data.source, command.recipe.data.eval_data};
  for (const auto& file : device_files(command.recipe.hardware.devices)) read.emplace_back(file);
  return read;
}

int train(const TrainCommand& command) {
  std::vector<std::string> line{"train", std::string(kWhisperTraining), "--out", command.run.out.string()};
  fs::path base;
  if (!command.recipe.network.model.empty()) {
    const auto model = find_named_model(command.recipe.network.model);
    if (!model) return complain(model.error());
    line.insert(line.end(), {"--model", model->string()});
    base = *model;
  }
  if (auto own = expect_own_folder(command.run, sources_of(command, base)); !own) return complain(own.error());
  if (command.run.resume) line.emplace_back("--resume");
  CommandTrace trace;
  if (auto begun = begin_trace(trace, command.run, sources_of(command, base)); !begun) return complain(begun.error());
  const auto settings = settings_file(show_recipe(command.recipe));
  if (!settings) return complain(settings.error(), kNothingRan);
  line.insert(line.end(), {"--config", path_of(*settings)});
  return run_processes(command, line);
}

}  // namespace

int run_train_whisper(const std::vector<std::string>& words) {
  const std::string name = "train " + std::string(kWhisperTraining);
  const bool help = requests_training_help<WhisperRecipe>(name, words);
  const auto ours = help ? Result<LoaderFlags>(LoaderFlags{.words = words}) : in_our_spelling(words);
  if (!ours) return complain(ours.error(), kUsage);
  for (const auto& answer : ours->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  const auto& flags = ours->words;
  TrainCommand command;
  const auto started = help ? Result<void>() : start_recipe(name, flags, in_our_spelling, command);
  if (!started) return complain(started.error(), kUsage);
  OptionTable table(name,
                    "Fine-tune a Whisper, or train a new one, on recordings with texts. Every setting is a flag here "
                    "and a key in a recipe; OUT/config.toml keeps what was used. The names of Hugging Face's trainer "
                    "(--num_train_epochs, --bf16, --dataloader_num_workers, ...) are understood, too, as "
                    "flags and as keys.");
  add_training(table, command);
  table.also_taken(loader_flag_names("dataloader_"));
  table.reads_flags_alone();
  table.examples({"tutti train whisper --model tiny.en --data corpus --out trained",
                  "tutti train whisper --preset whisper-small --data corpus --out trained",
                  "tutti train whisper --out trained --resume"});
  if (const auto code = read_training_flags(table, flags)) return *code;
  command.run.line = command_line("tutti " + name, words);
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  return train(command);
}

}  // namespace tutti
