#include "cli/training/training_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/flags.h"
#include "recipe/training_folder.h"

namespace tutti {

namespace fs = std::filesystem;

void add_training_run(OptionTable& table, TrainingRun& c, bool imports, std::vector<std::string> presets) {
  table.add(
      "out", c.out, "DIR",
      "checkpoints, metrics, and in OUT/model the model; of what is there already only files that a training wrote are "
      "replaced");
  if (!presets.empty())
    table
        .add("preset", c.preset, "NAME",
             "settings to begin with: whisper-small has field note 004's; a recipe wins over them, and flags over both")
        .choices = std::move(presets);
  table.add("config", c.config, "FILE.toml",
            "a recipe: any of the settings below, by the names that flags have; flags win");
  if (imports)
    table.add("import", c.import, "FILE.yaml",
              "field note 002's configuration in place of a recipe: each key is taken, answered, or named as unknown");
  table.add_switch("resume", c.resume, "go on from the newest checkpoint in OUT, with its settings");
  table.add("resume-from", c.resume_from, "DIR",
            "the same, of the named checkpoint: OUT/checkpoints/step-N, the newest");
  add_trace(table, c.trace);
}

Result<void> expect_preset_of_new_training(const TrainingRun& named) {
  if (named.preset.empty() || (!named.resume && named.resume_from.empty())) return {};
  return fail(Fault::usage, "preset " + named.preset + ": a training that goes on keeps its settings",
              "Leave out --preset");
}

Result<fs::path> recipe_file_of(const TrainingRun& named) {
  const fs::path saved = named.out / "config.toml";
  std::error_code ignored;
  const bool resumes = named.resume || !named.resume_from.empty();
  if (named.import.empty())
    return named.config.empty() && resumes && fs::exists(saved, ignored) ? saved : fs::path(named.config);
  if (!named.config.empty() || resumes)
    return fail(
        Fault::usage,
        "import " + named.import.string() +
            (resumes ? ": a training that goes on keeps its settings" : ": there is a recipe already, " + named.config),
        resumes ? "Leave out --import" : "Leave out --import or --config");
  return named.import;
}

std::optional<int> read_training_flags(OptionTable& table, const std::vector<std::string>& arguments) {
  const auto action = table.read(arguments, {});
  if (!action) return complain(action.error(), kUsage);
  if (*action == OptionTable::Action::help) return show_help(table.page());
  if (*action == OptionTable::Action::show_config) std::fputs(table.show_config().c_str(), stdout);
  return *action == OptionTable::Action::run ? std::nullopt : std::optional<int>(kDone);
}

Result<void> settle_run(TrainingRun& run) {
  if (run.out.empty()) return fail(Fault::usage, "there is no folder for the result", "Name a folder with --out");
  if (run.resume_from.empty()) return {};
  run.resume = true;
  return expect_newest_checkpoint(run.out, run.resume_from);
}

Result<void> expect_own_folder(const TrainingRun& command, std::vector<fs::path> sources) {
  sources.insert(sources.end(), {command.config, command.import});
  return expect_training_folder(command.out, std::move(sources), command.resume);
}

Result<void> begin_trace(CommandTrace& trace, const TrainingRun& run, std::vector<fs::path> sources) {
  sources.insert(sources.end(), {run.config, run.import});
  return trace.begin_beside(sources, run.trace, run.line);
}

Result<OwnedFd> settings_file(const std::string& text) {
  OwnedFd file(::memfd_create("tutti-settings", MFD_CLOEXEC));
  if (!file) return fail_errno("the settings", "could not be handed on");
  TRY(write_all(file.get(), std::as_bytes(std::span(text)), "the settings"));
  return file;
}

std::string path_of(const OwnedFd& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

void print_answer(const std::string& answer) {
  std::fprintf(stderr, "%s\n", answer.c_str());
}

std::string doing_of(const TrainingRun& run) {
  return "it trained; the checkpoints in " + run.out.string() + " are whole, see --resume";
}

}  // namespace tutti
