// The trainings that one process does: of classifiers, of voices and of their vocoders. train_whisper.cpp has the one
// of several.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/engine_process/engine_run.h"
#include "cli/interrupt.h"
#include "cli/prepare/build_progress.h"
#include "cli/training/recipe_flags.h"
#include "cli/training/training_run.h"
#include "device/machine.h"
#include "feed/labelled/labelled_files.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_builder.h"
#include "feed/prepared_set.h"
#include "recipe/classifier_fields.h"
#include "recipe/recipe_file.h"
#include "recipe/trainers/loader_flags.h"
#include "recipe/training_folder.h"
#include "recipe/tts_fields.h"
#include "recipe/vocoder_recipe.h"

namespace tutti {

template <>
inline constexpr bool kImportsYaml<TtsRecipe> = true;

namespace {

namespace fs = std::filesystem;

/// What a training of one process is, beside the fields of its recipe.
template <class Recipe>
struct SingleTraining {
  std::string_view word{};  // behind `tutti train`
  std::string about{};      // for the help
  std::vector<std::string> examples{};
  std::int64_t note_batch_bytes = 0;       // size of a field note's batch: what its depth of prefetching took
  std::vector<std::string> other_names{};  // flags of other trainers that are taken
  FlagSpellings spellings{};               // of flags that were read before, for the same names as keys of a recipe
  void (*settle)(OptionTable& flags, const TrainingRun& run,
                 Recipe& recipe) = nullptr;                                       // what flags imply, if anything
  std::vector<std::filesystem::path> (*sources)(const Recipe& recipe) = nullptr;  // what it reads
  Result<void> (*prepare)(const TrainingRun& run, Recipe& recipe) = nullptr;      // what it reads first, if anything
};

/// Hands the training to the engine. Returns the exit code.
template <class Recipe>
int run_in_engine(const SingleTraining<Recipe>& training, TrainingFlags<Recipe> command) {
  if (auto own = expect_own_folder(command.run, training.sources(command.recipe)); !own) return complain(own.error());
  if (auto made = training.prepare ? training.prepare(command.run, command.recipe) : Result<void>(); !made)
    return made.error().fault == Fault::cancelled ? static_cast<int>(kInterrupted) : complain(made.error());
  CommandTrace trace;
  if (auto begun = begin_trace(trace, command.run, training.sources(command.recipe)); !begun)
    return complain(begun.error());
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
  const auto started = help ? Result<void>() : start_recipe(name, flags->words, training.spellings, command);
  if (!started) return complain(started.error(), kUsage);
  OptionTable table(name, training.about);
  add_training(table, command);
  table.also_taken(training.other_names);
  table.reads_flags_alone();
  table.examples(training.examples);
  if (const auto code = read_training_flags(table, flags->words)) return *code;
  command.run.line = command_line("tutti " + name, words);
  auto settled = settle_run(command.run);
  if (settled && training.settle) training.settle(table, command.run, command.recipe);
  if (settled) settled = settle_compute_threads(command, std::max(1, read_cpu().cores));
  if (settled) settled = check_recipe(command.recipe);
  return settled ? run_in_engine(training, command) : complain(settled.error(), kUsage);
}

bool is_set(const fs::path& folder) {
  return is_there(set_file(folder, SetPart::training)) || is_there(set_file(folder, SetPart::validation));
}

/// Whether recordings may be there; what else is wrong is reported by those who read it.
bool may_be_recordings(const fs::path& data) {
  std::error_code ignored;
  return is_labelled_manifest(data) || fs::is_directory(data, ignored);
}

void report_prepared(const SetBuildReport& built, const fs::path& set) {
  log(Level::info, std::to_string(built.used) + " of " + std::to_string(built.found) + " recordings of " +
                       std::to_string(built.split.labels.size()) + " labels are prepared, in " + set.string() +
                       "; 'tutti prepare classifier' has more settings for that");
  if (built.bad > 0)
    log(Level::warning,
        std::to_string(built.bad) + " files were left out as unusable, see " + (set / kBadSampleList).string());
  for (const auto& warning : warnings_of(built)) log(Level::warning, warning);
  if (!built.has_groups)
    log(Level::warning,
        "each file is a group of its own. Where several come from one recording, one sensor or one speaker, the result "
        "looks better than it is: make the set with 'tutti prepare classifier --group'");
}

/// Prepares the set with other front ends beside it: linear bands, and clips of 2 s where they are longer. Not of a
/// large set, nor of field note 003's geometries.
Result<void> prepare_front_ends(const SetBuildReport& built, const fs::path& data, const fs::path& set,
                                BuildProgress& progress) {
  constexpr std::int64_t kSmallSet = 2000;
  constexpr Seconds kShort{2};
  if (built.used > kSmallSet || built.geometry.name != "clip") return {};
  SetBuildOptions options{.data = data, .preset = "clip", .threads = std::max(1, read_cpu().cores)};
  const auto build = [&](const char* name) -> Result<void> {
    options.out = set_with_front_end(set, name);
    TRY(build_labelled_set(options, [&](std::int64_t done, std::int64_t all) { return progress(done, all); }));
    return {};
  };
  if (built.geometry.seconds() >= 2 * kShort) {
    options.seconds = kShort;
    TRY(build("short"));
    options.seconds.reset();
  }
  options.linear = true;
  return build("linear");
}

/// The set that a classifier is trained on. `data` that is a set stays; its file for training names it, too. Labelled
/// recordings, in folders or a list as for `tutti prepare classifier`, are prepared by its defaults into OUT/set; a
/// training that goes on (`resumes`) takes the one that is there. One that `tunes` gets others of a small set beside
/// it, for the engine to choose among. Reports on standard error. Errors: those of build_labelled_set; Fault::cancelled
/// after an interruption, and the same command goes on from there.
Result<fs::path> classifier_set(const fs::path& data, const fs::path& out, bool resumes, bool tunes) {
  const auto set = out / "set";
  if (data.filename() == set_file("", SetPart::training)) return folder_of(data);  // as shells complete the name
  if (data.empty() || is_set(data) || !may_be_recordings(data)) return data;
  if (resumes && is_set(set)) return set;
  TRY(resumes ? Result<void>() : expect_set_unused(out));
  Interrupt interrupt;
  BuildProgress progress(interrupt, "files");
  const auto built = TRY(build_labelled_set({.data = data, .out = set, .threads = std::max(1, read_cpu().cores)},
                                            [&](std::int64_t done, std::int64_t all) { return progress(done, all); }));
  report_prepared(built, set);
  if (tunes) TRY(prepare_front_ends(built, data, set, progress));
  return set;
}

constexpr std::int64_t kNoteBatchBytes = 8192 * 128;  // field note 003's, in half precision

/// What in_voice_spelling takes.
std::vector<std::string> voice_flag_names() {
  auto names = note_flag_names();
  const auto loader = loader_flag_names("");
  names.insert(names.end(), loader.begin(), loader.end());
  return names;
}

Result<LoaderFlags> in_voice_spelling(const std::vector<std::string>& words) {
  auto ours = in_voice_names(words);
  if (!ours) return ours;
  auto rest = without_loader_flags(ours->words, "", 0);
  if (rest) rest->answers.insert(rest->answers.begin(), ours->answers.begin(), ours->answers.end());
  return rest;
}

}  // namespace

int run_train_classifier(const std::vector<std::string>& words) {
  return run_single_training<ClassifierRecipe>(
      {.word = kClassifierTraining,
       .about = "Train a network that names sounds, on a set that 'tutti prepare classifier' made of folders of "
                "labelled recordings, or on such folders themselves. Every setting is a flag here and a key in a "
                "recipe; OUT/config.toml keeps "
                "what was used. OUT/model is for 'tutti classify'. DataLoader's settings (--num_workers, "
                "--prefetch_factor, --pin_memory, ...) are answered with what replaces them.",
       .examples = {"tutti train classifier --data set --out trained",
                    "tutti train classifier --data sounds --out trained  # folders: prepared into trained/set",
                    "tutti train classifier --out trained --resume"},
       .note_batch_bytes = kNoteBatchBytes,
       .other_names = loader_flag_names(""),
       .spellings = [](const auto& flags) { return without_loader_flags(flags, "", kNoteBatchBytes); },
       .settle =
           [](OptionTable& flags, const TrainingRun& run, ClassifierRecipe& r) {
             const bool is_named = flags.given_by("batch-size") == SourceKind::flag;
             const bool has_least = flags.given_by("least-steps") == SourceKind::flag;
             if (is_named && !has_least && !run.resume) r.least_steps = 1;  // a batch that is named holds
           },
       .sources = [](const ClassifierRecipe& r) { return std::vector<std::filesystem::path>{r.data}; },
       .prepare = [](const TrainingRun& run, ClassifierRecipe& r) -> Result<void> {
         r.data = TRY(classifier_set(r.data, run.out, run.resume, r.tune_minutes > 0));
         return {};
       }},
      words);
}

int run_train_tts(const std::vector<std::string>& words) {
  const bool help = requests_training_help<TtsRecipe>("train " + std::string(kTtsTraining), words);
  const auto ours = help ? Result<LoaderFlags>(LoaderFlags{.words = words}) : in_voice_names(words);
  if (!ours) return complain(ours.error(), kUsage);
  for (const auto& answer : ours->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  return run_single_training<TtsRecipe>(
      {.word = kTtsTraining,
       .about = "Train a voice on a set that 'tutti prepare tts' made of recordings with their texts. Every setting "
                "is a flag here and a key in a recipe; OUT/config.toml keeps what was used. OUT/model is for "
                "'tutti say'. Texts and sounds are aligned in every step; nothing else has to know where a word is. "
                "Settings of other trainers (field note 002's, DataLoader's) are taken by their names, answered with "
                "what replaces them, or refused with the reason.",
       .examples = {"tutti train tts --train-data set --out trained", "tutti train tts --out trained --resume",
                    "tutti train tts --train-data set --import config.yaml --out trained"},
       .note_batch_bytes = 16 * 800 * 80 * 4,  // field note 002's, in float32
       .other_names = voice_flag_names(),
       .spellings = in_voice_spelling,
       .sources =
           [](const TtsRecipe& r) {
             return std::vector{r.data.train_data, r.data.val_data, r.network.model};
           }},
      ours->words);
}

int run_train_vocoder(const std::vector<std::string>& words) {
  constexpr std::int64_t kBatchBytes = 16 * 64 * (80 + 200 + 2) * 4;  // the usual one, at 16 kHz
  return run_single_training<VocoderRecipe>(
      {.word = kVocoderTraining,
       .about = "Train a vocoder, which makes sound of a voice's spectrograms, on a set of 'tutti prepare tts "
                "--waveforms'. Every setting is a flag here and a key in a recipe; OUT/config.toml keeps what was "
                "used. 'tutti say --vocoder OUT/model' speaks with it, and so does a voice that has it in its folder "
                "as vocoder. DataLoader's settings (--num_workers, ...) are answered with what replaces them.",
       .examples = {"tutti train vocoder --train-data set --out vocoder", "tutti train vocoder --out vocoder --resume",
                    "tutti say --voice trained/model --vocoder vocoder/model -o x.wav \"three five zero\""},
       .note_batch_bytes = kBatchBytes,
       .spellings = [](const auto& flags) { return without_loader_flags(flags, "", kBatchBytes); },
       .sources =
           [](const VocoderRecipe& r) {
             return std::vector{r.data.train_data, r.data.voice};
           }},
      words);
}

}  // namespace tutti
