#include <algorithm>
#include <cstdio>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/training/loader_flags.h"
#include "cli/training/recipe_flags.h"
#include "cli/training/training_run.h"
#include "device/machine.h"
#include "feed/recipe/classifier_fields.h"
#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"

namespace tutti {
namespace {

using TrainCommand = TrainingFlags<ClassifierRecipe>;

Result<ClassifierRecipe> read_text(const std::string& text, const std::string& file) {
  return read_classifier_recipe(text, file);
}

Result<void> settle(TrainCommand& command) {
  auto settled = settle_run(command.run);
  if (settled) settled = settle_compute_threads(command, read_text, std::max(1, read_cpu().cores));
  if (settled) settled = check_recipe(command.recipe);
  return settled;
}

int train(const TrainCommand& command) {
  if (auto own = expect_own_folder(command.run, {command.recipe.data}); !own) return complain(own.error());
  const auto settings = settings_file(show_recipe(command.recipe));
  if (!settings) return complain(settings.error(), kNothingRan);
  std::vector<std::string> line{
      "train", std::string(kClassifierTraining), "--out", command.run.out.string(), "--config", path_of(*settings)};
  if (command.run.resume) line.emplace_back("--resume");
  return run_engine(line, doing_of(command.run));
}

}  // namespace

int run_train_classifier(const std::vector<std::string>& words) {
  const std::string name = "train " + std::string(kClassifierTraining);
  TrainCommand command;
  const bool help = requests_training_help<ClassifierRecipe>(name, words);
  constexpr std::int64_t kNoteBatchBytes = 8192 * 128;  // of note 003's batches, in half precision
  const auto flags = without_loader_flags(words, "", kNoteBatchBytes);
  if (!flags) return complain(flags.error(), kUsage);
  for (const auto& answer : flags->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  const auto started = help ? Result<void>() : start_recipe<ClassifierRecipe>(name, flags->words, read_text, command);
  if (!started) return complain(started.error(), kUsage);
  OptionTable table(
      name,
      "Train a network that names sounds, on a set that 'tutti prepare classifier' made of folders of "
      "labelled recordings. Every setting is a flag here and a key in a recipe; OUT/config.toml keeps "
      "what was used. OUT/model is for 'tutti classify'. DataLoader's settings (--num_workers, --prefetch_factor, "
      "--pin_memory, ...) are answered with what replaces them.");
  add_training(table, command);
  table.reads_flags_alone();
  table.examples({"tutti train classifier --data set --out trained", "tutti train classifier --out trained --resume"});
  if (const auto code = read_training_flags(table, flags->words)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  return train(command);
}

}  // namespace tutti
