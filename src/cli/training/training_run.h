#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "cli/command_trace.h"
#include "settings/option_table.h"

namespace tutti {

/// What every training's command line has beside its recipe.
struct TrainingRun {
  std::filesystem::path out{};
  std::string preset{};  // settings to begin with; empty: none, or the training has none
  std::string config{};
  std::filesystem::path import{};  // a configuration of another trainer; empty: none, or the training takes none
  bool resume = false;
  std::filesystem::path resume_from{};
  std::filesystem::path trace{};
  std::string line{};  // as typed
};

/// `tutti train whisper`, `classifier`, `tts` and `vocoder`: the words behind them; return the exit code.
int run_train_whisper(const std::vector<std::string>& words);
int run_train_classifier(const std::vector<std::string>& words);
int run_train_tts(const std::vector<std::string>& words);
int run_train_vocoder(const std::vector<std::string>& words);

/// Binds --out, --config, --resume, --resume-from and --trace; --import, too, where the training takes it, and --preset
/// where there are `presets`.
void add_training_run(OptionTable& table, TrainingRun& run, bool imports, std::vector<std::string> presets);

/// Fault::usage for a preset beside a training that goes on, which keeps its settings.
Result<void> expect_preset_of_new_training(const TrainingRun& named);

/// The file that flags are read over: the recipe that is named or imported, else that of the training to be continued;
/// empty: none. Fault::usage for two of them.
Result<std::filesystem::path> recipe_file_of(const TrainingRun& named);

/// Reads the flags; a value is the exit code of a command that is over. A training follows from its recipe and flags
/// alone: variables such as TUTTI_MODEL, which are for transcribing, are not read.
std::optional<int> read_training_flags(OptionTable& table, const std::vector<std::string>& arguments);

/// Fault::usage without a folder for the result. A training goes on from its newest checkpoint, which may be named:
/// then it has to be that.
Result<void> settle_run(TrainingRun& run);

/// Checks that nothing of OUT replaces what the training reads (`sources`; empty paths are none), or a model that is
/// not its own.
Result<void> expect_own_folder(const TrainingRun& run, std::vector<std::filesystem::path> sources);

/// Begins the trace of --trace, a file that the training does not read (`sources`; empty paths are none).
Result<void> begin_trace(CommandTrace& trace, const TrainingRun& run, std::vector<std::filesystem::path> sources);

/// The settings for the engines, in a file without a name: one in OUT could be that of another command, which is about
/// to be refused there. OUT/config.toml is written by the first engine, once all of them have accepted their settings.
Result<OwnedFd> settings_file(const std::string& text);

/// The path by which another process opens it, until this one closes it.
std::string path_of(const OwnedFd& file);

/// Prints what replaces a setting of another trainer, one line on standard error.
void print_answer(const std::string& answer);

/// For people, where the engine dies.
std::string doing_of(const TrainingRun& run);

}  // namespace tutti
