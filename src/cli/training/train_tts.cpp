#include <algorithm>
#include <cstdio>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/training/loader_flags.h"
#include "cli/training/recipe_flags.h"
#include "cli/training/training_run.h"
#include "device/machine.h"
#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"
#include "feed/recipe/tts_fields.h"

namespace tutti {
namespace {

using TrainCommand = TrainingFlags<TtsRecipe>;

Result<TtsRecipe> read_text(const std::string& text, const std::string& file) {
  return read_tts_recipe(text, file);
}

Result<void> settle(TrainCommand& command) {
  auto settled = settle_run(command.run);
  if (settled) settled = settle_compute_threads(command, read_text, std::max(1, read_cpu().cores));
  if (settled) settled = check_recipe(command.recipe);
  return settled;
}

int train(const TrainCommand& command) {
  const auto& r = command.recipe;
  if (auto own = expect_own_folder(command.run, {r.train_data, r.val_data, r.model}); !own)
    return complain(own.error());
  const auto settings = settings_file(show_recipe(r));
  if (!settings) return complain(settings.error(), kNothingRan);
  std::vector<std::string> line{"train",    std::string(kTtsTraining), "--out", command.run.out.string(),
                                "--config", path_of(*settings)};
  if (command.run.resume) line.emplace_back("--resume");
  return run_engine(line, doing_of(command.run));
}

}  // namespace

int run_train_tts(const std::vector<std::string>& words) {
  const std::string name = "train " + std::string(kTtsTraining);
  TrainCommand command;
  const bool help = requests_training_help<TtsRecipe>(name, words);
  constexpr std::int64_t kNoteBatchBytes = 16 * 800 * 80 * 4;  // of field note 002's batches
  const auto ours = in_voice_names(words);
  if (!ours) return complain(ours.error(), kUsage);
  const auto flags = without_loader_flags(ours->words, "", kNoteBatchBytes);
  if (!flags) return complain(flags.error(), kUsage);
  for (const auto* answers : {&ours->answers, &flags->answers})
    for (const auto& answer : *answers) std::fprintf(stderr, "%s\n", answer.c_str());
  const auto started = help ? Result<void>() : start_recipe<TtsRecipe>(name, flags->words, read_text, command);
  if (!started) return complain(started.error(), kUsage);
  OptionTable table(
      name,
      "Train a voice on a set that 'tutti prepare tts' made of recordings with their texts. Every setting "
      "is a flag here and a key in a recipe; OUT/config.toml keeps what was used. OUT/model is for "
      "'tutti say'. Texts and sounds are aligned in every step; nothing else has to know where a word is. "
      "Settings of other trainers (field note 002's, DataLoader's) are taken by their names, answered with what "
      "replaces them, or refused with the reason.");
  add_training(table, command);
  table.reads_flags_alone();
  table.examples({"tutti train tts --train-data set --out trained", "tutti train tts --out trained --resume"});
  if (const auto code = read_training_flags(table, flags->words)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  return train(command);
}

}  // namespace tutti
