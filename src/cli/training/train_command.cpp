#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/free_port.h"
#include "base/output_ownership.h"
#include "base/owned.h"
#include "base/process/exit_code.h"
#include "base/process/process_rank.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "cli/training/trainer_names.h"
#include "cli/training/training_processes.h"
#include "device/machine.h"
#include "feed/recipe/checkpoint_names.h"
#include "feed/recipe/recipe_checks.h"
#include "feed/recipe/recipe_file.h"
#include "feed/recipe/whisper_fields.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct TrainCommand {
  fs::path out{};
  std::string config{};
  bool resume = false;
  fs::path resume_from{};
  WhisperRecipe recipe{};
  fs::path recipe_file{};               // that `recipe` was read from; empty: none
  std::vector<ChosenDevice> devices{};  // a process for each; empty: one process on recipe.device
};

/// Every field's value as text, by name.
class Values {
 public:
  explicit Values(std::map<std::string, std::string>& into) : into_(into) {}
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    into_[name] = show_value(field);
  }

 private:
  std::map<std::string, std::string>& into_;
};

/// Every field of the recipe is a flag; what is not as without a recipe came from its file.
class Flags {
 public:
  Flags(OptionTable& table, std::string file) : table_(table), file_(std::move(file)) {
    WhisperRecipe plain;
    visit_fields(plain, Values(defaults_));
  }
  void group(const char* heading) { table_.group(heading); }
  template <class T>
  void operator()(const char* name, T& field, const char* value, const char* meaning) {
    Option& option = table_.add(name, field, value, meaning);
    if (option.show() != defaults_.at(name)) option.source = file_;
  }

 private:
  OptionTable& table_;
  std::string file_;
  std::map<std::string, std::string> defaults_{};
};

void add_train(OptionTable& table, TrainCommand& c) {
  table.add(
      "out", c.out, "DIR",
      "checkpoints, metrics, and in OUT/model the model; of what is there already only files that a training wrote are "
      "replaced");
  table.add("config", c.config, "FILE.toml", "a recipe: any of the settings below; flags win");
  table.add_switch("resume", c.resume, "go on from the newest checkpoint in OUT, with its settings");
  table.add("resume-from", c.resume_from, "DIR",
            "the same, of the named checkpoint: OUT/checkpoints/step-N, the newest");
  visit_fields(c.recipe, Flags(table, c.recipe_file.string()));
}

/// The file that flags are read over: the recipe that is named, else that of the training to be continued. The flags
/// are read for it by the same table as afterwards, so that all spellings count; what is wrong with them is reported
/// then.
fs::path recipe_file(const std::vector<std::string>& arguments) {
  TrainCommand named;
  OptionTable table("train whisper", "");
  add_train(table, named);
  static_cast<void>(table.read(arguments, {}));
  const fs::path saved = named.out / "config.toml";
  std::error_code ignored;
  const bool resumes = named.resume || !named.resume_from.empty();
  return named.config.empty() && resumes && fs::exists(saved, ignored) ? saved : fs::path(named.config);
}

/// Given whatever else is wrong, a recipe included.
bool requests_help(const std::vector<std::string>& words) {
  TrainCommand usual;
  OptionTable table("train whisper", "");
  add_train(table, usual);
  return table.requests_help(words);
}

Result<WhisperRecipe> base_recipe(const fs::path& file) {
  if (file.empty()) return WhisperRecipe{};
  const auto text = read_file(file);
  if (!text) return tl::unexpected<Error>(text.error());
  return read_recipe(*text, file.string());
}

/// Sums depend on the number of threads, so a training keeps the one it began with.
Result<void> settle_compute_threads(TrainCommand& command) {
  const auto saved = command.out / "config.toml";
  std::error_code ignored;
  if (command.recipe.compute_threads == 0 && command.resume && fs::exists(saved, ignored)) {
    const auto text = read_file(saved);
    if (!text) return tl::unexpected<Error>(text.error());
    const auto before = read_recipe(*text, saved.string());
    if (!before) return tl::unexpected<Error>(before.error());
    command.recipe.compute_threads = before->compute_threads;
  }
  if (command.recipe.compute_threads > 0) return {};
  // Processes share the cores; who has a core of its own cannot use more.
  const auto processes = std::max(1, static_cast<int>(command.devices.size()));
  const bool pinned = std::ranges::any_of(command.devices, [](const auto& it) { return it.device.core.has_value(); });
  command.recipe.compute_threads = pinned ? 1 : std::max(1, read_cpu().cores / processes);
  return {};
}

/// Invalid values are left to the engine to refuse.
ProcessRank rank_of_process() {
  return process_rank().value_or(ProcessRank{});
}

/// A process for every listed device, unless another program starts the processes.
Result<void> settle_devices(TrainCommand& command) {
  if (command.recipe.devices.empty()) return {};
  if (rank_of_process().ranks > 1)
    return fail(Fault::usage, "devices: this process is already one of several, by WORLD_SIZE or SLURM_NTASKS",
                "Say with --device where it computes, or unset the variables");
  auto devices = training_devices(command.recipe.devices);
  if (!devices) return tl::unexpected<Error>(devices.error());
  command.devices = std::move(*devices);
  return {};
}

/// Reads the flags; a value is the exit code of a command that is over. A training follows from its recipe and flags
/// alone: variables such as TUTTI_MODEL, which are for transcribing, are not read.
std::optional<int> read_flags(OptionTable& table, const std::vector<std::string>& arguments) {
  const auto action = table.read(arguments, {});
  if (!action) return complain(action.error(), kUsage);
  if (*action == OptionTable::Action::help) std::fputs(table.help().c_str(), stdout);
  if (*action == OptionTable::Action::show_config) std::fputs(table.show_config().c_str(), stdout);
  return *action == OptionTable::Action::run ? std::nullopt : std::optional<int>(kDone);
}

/// A training goes on from its newest checkpoint, which may be named: then it has to be that.
Result<void> settle_resume(TrainCommand& command) {
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

Result<void> settle(TrainCommand& command) {
  if (command.out.empty()) return fail(Fault::usage, "there is no folder for the result", "Name a folder with --out");
  if (auto settled = settle_resume(command); !settled) return settled;
  auto language = language_code_of(command.recipe.language);
  if (!language) return tl::unexpected<Error>(language.error());
  command.recipe.language = std::move(*language);
  auto settled = settle_devices(command);
  if (settled) settled = settle_compute_threads(command);
  if (settled) settled = check_recipe(command.recipe);
  return settled;
}

int run_processes(const TrainCommand& command, const std::vector<std::string>& line) {
  const auto doing = "it trained; the checkpoints in " + command.out.string() + " are whole, see --resume";
  if (command.devices.empty()) return run_engine(line, doing);
  const auto port = free_port();
  if (!port) return complain(port.error(), kNothingRan);
  return run_engines(training_processes(line, command.devices, *port), doing);
}

/// What a training reads beside its checkpoints.
std::vector<fs::path> sources_of(const TrainCommand& command, const fs::path& base) {
  std::vector<fs::path> read{base, command.recipe.data, command.recipe.eval_data};
  if (!command.config.empty()) read.emplace_back(command.config);
  for (const auto& file : device_files(command.recipe.devices)) read.push_back(file);
  std::erase_if(read, [](const fs::path& path) { return path.empty(); });
  return read;
}

/// A training was begun there; those of older versions left checkpoints alone.
bool is_training_folder(const fs::path& out) {
  std::error_code ignored;
  return is_there(out / kTrainingLock) ||
         std::ranges::any_of(fs::directory_iterator(out / "checkpoints", ignored), [](const auto& entry) {
           return entry.path().filename().string().starts_with(kStepPrefix) && is_there(entry.path() / "training.json");
         });
}

/// What a training writes in OUT, beside checkpoints and model.
constexpr const char* kFiles[] = {"config.toml",       "metrics.jsonl", "order.jsonl",
                                  "bad_samples.jsonl", "loss.svg",      "events"};

/// Fault::usage where something in OUT has a name that a training writes to, and none has trained there.
Result<void> expect_own_files(const fs::path& out) {
  if (is_training_folder(out)) return {};
  std::vector<std::string> names(std::begin(kFiles), std::end(kFiles));
  names.insert(names.end(), {"model", "checkpoints"});
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

/// Checks that nothing of OUT replaces what the training reads, or a model that is not its own.
Result<void> expect_own_folder(const TrainCommand& command, const fs::path& base) {
  constexpr const char* kOther = "Name another folder with --out";
  OutputOwnership files(kOther);
  const auto sources = sources_of(command, base);
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

/// The settings for the engines, in a file without a name: one in OUT could be that of another command, which is about
/// to be refused there. OUT/config.toml is written by the first engine, once all of them have accepted their settings.
Result<OwnedFd> settings_file(const std::string& text) {
  OwnedFd file(::memfd_create("tutti-settings", MFD_CLOEXEC));
  if (!file) return fail_errno("the settings", "could not be handed on");
  if (auto written = write_all(file.get(), std::as_bytes(std::span(text)), "the settings"); !written)
    return tl::unexpected<Error>(written.error());
  return file;
}

int train(const TrainCommand& command) {
  std::vector<std::string> line{"train", "whisper", "--out", command.out.string()};
  fs::path base;
  if (!command.recipe.model.empty()) {
    const auto model = find_named_model(command.recipe.model);
    if (!model) return complain(model.error());
    line.insert(line.end(), {"--model", model->string()});
    base = *model;
  }
  if (auto own = expect_own_folder(command, base); !own) return complain(own.error());
  if (command.resume) line.emplace_back("--resume");
  const auto settings = settings_file(show_recipe(command.recipe));
  if (!settings) return complain(settings.error(), kNothingRan);
  const auto opened = std::to_string(::getpid()) + "/fd/" + std::to_string(settings->get());
  line.insert(line.end(), {"--config", "/proc/" + opened});
  return run_processes(command, line);
}

}  // namespace

int run_train(const std::vector<std::string>& arguments) {
  const bool named = !arguments.empty() && !arguments[0].starts_with("-");
  if (named && arguments[0] != "whisper")
    return complain({Fault::usage, "'" + arguments[0] + "': no such training", "Did you mean 'tutti train whisper'?"},
                    kUsage);
  const std::vector<std::string> words(arguments.begin() + (named ? 1 : 0), arguments.end());
  const bool help = requests_help(words);
  const auto flags = help ? Result<std::vector<std::string>>(words) : in_our_names(words);
  if (!flags) return complain(flags.error(), kUsage);
  TrainCommand command;
  if (!help) command.recipe_file = recipe_file(*flags);
  auto base = base_recipe(command.recipe_file);
  if (!base) return complain(base.error(), kUsage);
  command.recipe = std::move(*base);
  OptionTable table("train whisper",
                    "Fine-tune a Whisper, or train a new one, on recordings with texts. Every setting is a flag here "
                    "and a key in a recipe; OUT/config.toml keeps what was used. The names of Hugging Face's trainer "
                    "(--num_train_epochs, --bf16, --dataloader_num_workers, ...) are understood, too.");
  add_train(table, command);
  table.reads_flags_alone();
  table.examples({"tutti train whisper --model tiny.en --data corpus --out trained",
                  "tutti train whisper --out trained --resume"});
  if (const auto code = read_flags(table, *flags)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  return train(command);
}

}  // namespace tutti
