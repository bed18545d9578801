#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/training/loader_flags.h"
#include "cli/training/recipe_flags.h"
#include "cli/training/training_run.h"
#include "device/machine.h"
#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"

namespace tutti {

/// What a training of one process is, beside the fields of its recipe.
template <class Recipe>
struct SingleTraining {
  std::string_view word{};  // behind `tutti train`
  std::string about{};      // for the help
  std::vector<std::string> examples{};
  std::int64_t note_batch_bytes = 0;  // of a field note's batch: what its depth of prefetching took
  Result<Recipe> (*read)(const std::string& text, const std::string& file) = nullptr;
  std::vector<std::filesystem::path> (*sources)(const Recipe& recipe) = nullptr;  // what it reads
};

/// Hands the training to the engine. Returns the exit code.
template <class Recipe>
int run_in_engine(const SingleTraining<Recipe>& training, const TrainingFlags<Recipe>& command) {
  if (auto own = expect_own_folder(command.run, training.sources(command.recipe)); !own) return complain(own.error());
  const auto settings = settings_file(show_recipe(command.recipe));
  if (!settings) return complain(settings.error(), kNothingRan);
  std::vector<std::string> line{"train",    std::string(training.word), "--out", command.run.out.string(),
                                "--config", path_of(*settings)};
  if (command.run.resume) line.emplace_back("--resume");
  return run_engine(line, doing_of(command.run));
}

/// `tutti train WORD`: reads flags and recipe, settles them, and trains. Returns the exit code.
template <class Recipe>
int run_single_training(const SingleTraining<Recipe>& training, const std::vector<std::string>& words) {
  const std::string name = "train " + std::string(training.word);
  TrainingFlags<Recipe> command;
  const bool help = requests_training_help<Recipe>(name, words);
  const auto flags = without_loader_flags(words, "", training.note_batch_bytes);
  if (!flags) return complain(flags.error(), kUsage);
  for (const auto& answer : flags->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  const auto started = help ? Result<void>() : start_recipe<Recipe>(name, flags->words, training.read, command);
  if (!started) return complain(started.error(), kUsage);
  OptionTable table(name, training.about);
  add_training(table, command);
  table.reads_flags_alone();
  table.examples(training.examples);
  if (const auto code = read_training_flags(table, flags->words)) return *code;
  auto settled = settle_run(command.run);
  if (settled) settled = settle_compute_threads(command, training.read, std::max(1, read_cpu().cores));
  if (settled) settled = check_recipe(command.recipe);
  return settled ? run_in_engine(training, command) : complain(settled.error(), kUsage);
}

}  // namespace tutti
