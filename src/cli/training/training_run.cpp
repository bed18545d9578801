#include "cli/training/training_run.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "base/file_lock.h"
#include "base/files.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "recipe/checkpoint_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A training goes on from its newest checkpoint, which may be named: then it has to be that.
Result<void> settle_resume(TrainingRun& command) {
  if (command.resume_from.empty()) return {};
  command.resume = true;
  const std::string requested = "resume-from " + command.resume_from.string();
  const fs::path named = (command.resume_from / "").parent_path(), folder = command.out / "checkpoints";
  std::error_code ignored;
  const auto called = named.filename().string();
  if (called.starts_with(kStoppedPrefix))
    return fail(Fault::usage, requested + ": this is what a training had come to when it gave up",
                "To go on from it, call it " + called.substr(kStoppedPrefix.size()) + " first");
  const bool is_one = called.starts_with(kStepPrefix);  // no damaged one, which was put aside
  if (!is_one || !fs::exists(named / "training.json", ignored))
    return fail(Fault::missing, requested + ": no checkpoint of a training is there",
                "Expected a folder OUT/checkpoints/step-N");
  if (!fs::equivalent(fs::absolute(named).parent_path(), folder, ignored))
    return fail(Fault::usage, requested + ": it is none of this training, whose checkpoints are in " + folder.string(),
                "Name its own OUT with --out");
  for (const auto& other : fs::directory_iterator(folder, ignored)) {
    const auto name = other.path().filename();
    if (name.string().starts_with(kStepPrefix) && name > called)
      return fail(Fault::usage, requested + ": " + folder.string() + " holds a newer one, " + name.string(),
                  "Leave resume-from out to go on from the newest, or move the newer ones away");
  }
  return {};
}

bool has_checkpoints(const fs::path& out) {
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(out / "checkpoints", ignored), [](const auto& entry) {
    return entry.path().filename().string().starts_with(kStepPrefix) && is_there(entry.path() / "training.json");
  });
}

/// A training was begun there; those of older versions left checkpoints alone.
bool is_training_folder(const fs::path& out) {
  return is_there(out / kTrainingLock) || has_checkpoints(out);
}

/// What a training writes in OUT, beside checkpoints and model.
constexpr const char* kFiles[] = {"config.toml", "metrics.jsonl", "order.jsonl", "bad_samples.jsonl",
                                  "loss.svg",    "events",        "tuning.jsonl"};

/// Fault::usage where something in OUT has a name that a training writes to, and none has trained there.
Result<void> expect_own_files(const fs::path& out) {
  if (is_training_folder(out)) return {};
  std::vector<std::string> names(std::begin(kFiles), std::end(kFiles));
  names.insert(names.end(), {"model", "checkpoints", "tuning-trial"});
  for (const auto& name : names) {
    std::error_code ignored;
    const fs::path path = out / name;
    const bool is_empty_folder = fs::is_directory(path, ignored) && fs::is_empty(path, ignored);
    if (is_taken(path) && !is_empty_folder)
      return fail(Fault::usage, path.string() + " is there already and is none of this training",
                  "Move it away, or name another folder with --out");
  }
  return {};
}

/// Fault::usage where a file that is read is one that a training writes in OUT. A training that goes on reads its own
/// settings.
Result<void> expect_no_source_written(const fs::path& out, const std::vector<fs::path>& sources, bool resumes) {
  for (const fs::path name : kFiles)
    for (const auto& source : sources)
      if (const auto number = number_of(out / name);
          number && number == number_of(source) && !(resumes && name == "config.toml"))
        return fail(Fault::usage, (out / name).string() + " is an input itself and would be overwritten",
                    "Keep it elsewhere, or name another folder with --out");
  return {};
}

}  // namespace

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
  return settle_resume(run);
}

Result<void> expect_set_unused(const fs::path& out) {
  if (has_checkpoints(out) || has_checkpoints(out / kScreenFolder))
    return fail(Fault::usage, out.string() + " holds a training already, and its set would be replaced",
                "Continue it with --resume, or name another folder with --out");
  if (!is_there(out / kTrainingLock)) return {};
  const auto held = take_hold({.file = out / kTrainingLock,
                               .other = out.string() + ": another process is training into this folder",
                               .unnoticed = "a training into " + out.string(),
                               .way_out = "Wait for it to end, or name another folder with --out"});
  return held ? Result<void>() : tl::unexpected<Error>(held.error());
}

Result<void> expect_own_folder(const TrainingRun& command, std::vector<fs::path> sources) {
  constexpr const char* kOther = "Name another folder with --out";
  OutputOwnership files(kOther);
  sources.insert(sources.end(), {command.config, command.import});
  std::erase_if(sources, [](const fs::path& path) { return path.empty(); });
  for (const auto& path : sources) {
    if (auto other = expect_other_out(command.out, path); !other) return other;
    files.add_input(path);
  }
  for (const char* folder : {"model", "checkpoints"})
    if (auto free = files.expect_no_input_in(command.out / folder); !free) return free;
  if (auto free = expect_no_source_written(command.out, sources, command.resume); !free) return free;
  if (auto own = expect_own_files(command.out); !own) return own;
  if (!command.resume && is_there(command.out / "model") && !is_there(command.out / "checkpoints"))
    return fail(Fault::usage, (command.out / "model").string() + " is there already and is none of this training",
                kOther);
  return {};
}

Result<void> begin_trace(CommandTrace& trace, const TrainingRun& run, std::vector<fs::path> sources) {
  sources.insert(sources.end(), {run.config, run.import});
  return trace.begin_beside(sources, run.trace, run.line);
}

Result<OwnedFd> settings_file(const std::string& text) {
  OwnedFd file(::memfd_create("tutti-settings", MFD_CLOEXEC));
  if (!file) return fail_errno("the settings", "could not be handed on");
  if (auto written = write_all(file.get(), std::as_bytes(std::span(text)), "the settings"); !written)
    return tl::unexpected<Error>(written.error());
  return file;
}

std::string path_of(const OwnedFd& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

std::string doing_of(const TrainingRun& run) {
  return "it trained; the checkpoints in " + run.out.string() + " are whole, see --resume";
}

}  // namespace tutti
