#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/environment.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/prepare/build_progress.h"
#include "device/machine.h"
#include "feed/labelled/labelled_files.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_builder.h"
#include "feed/labelled/set_waveforms.h"
#include "feed/prepared_set.h"
#include "profile/pipeline_recorder.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {
namespace {

struct PrepareClassifier {
  std::filesystem::path data{};
  std::filesystem::path root{};
  std::filesystem::path out{};
  std::string preset{};
  std::int32_t rate = 0;
  double seconds = 0;
  std::int32_t mels = 0;
  std::string front_end = "mel";
  std::int32_t clips_per_file = 0;
  std::string group{};
  std::string delimiter = "~";
  std::uint64_t seed = 1234;
  std::int32_t threads = 0;
  TuningFlags tuning{};
  std::int32_t surrogates = 0;
  bool waveforms = false;
  bool dry_run = false;
  std::filesystem::path trace{};
};

OptionTable table_of(PrepareClassifier& c) {
  OptionTable table(
      "prepare classifier",
      "Make a set for 'tutti train classifier' of folders of recordings: DIR/LABEL/FILE, or "
      "DIR/train/LABEL/FILE beside validation and test. Files of one group are never in two parts. Files "
      "that are damaged or silent are left out and listed in OUT/bad_samples.jsonl. A run that was killed is "
      "continued by the same command. BUILDER_LOG_LEVEL=DEBUG also names every file that is left out.");
  table.add(
      "data", c.data, "DIR|LIST",
      "the recordings, in a folder for each label; or a table or JSON lines with 'path', 'label' and, where known, "
      "'group' and 'split', or rows of a file and its label; any format and rate");
  table.add("root", c.root, "DIR", "where the paths of a list begin; without it: the list's folder");
  table.add("out", c.out, "SET", "TRAINING_DATASET.H5, VALIDATION_DATASET.H5, TESTING_DATASET.H5, bad_samples.jsonl");
  table
      .add("preset", c.preset, "NAME",
           "clip: rate and length as the recordings have them; leak: 10 s at 4,096 Hz in 80 segments of 64 mels, as "
           "field note 003 has them; leak-overlap: in 237 segments of 32 mels. Without it: leak where files are called "
           "SENSOR~RECORDING~TIME~GAIN.wav, else clip")
      .choices = {"clip", "leak", "leak-overlap"};
  table.add("rate", c.rate, "HZ", "sample rate that clips are converted to; 0: the rate that most files have");
  table.add(
      "seconds", c.seconds, "S",
      "length of a clip: longer ones are cut, shorter ones filled up; 0: what 95 % of the files fit in, at most 10");
  table.add("mels", c.mels, "N", "bins of a spectrogram; 0: by the rate");
  table
      .add("front-end", c.front_end, "NAME",
           "bins of a spectrogram: mel, or linear, which are equally wide; presets other than clip have mels")
      .choices = {"mel", "linear"};
  table.add(
      "clips-per-file", c.clips_per_file, "N",
      "clips of a longer file, spread evenly over it; all are in one part, and its answer is their vote. 0: all "
      "that it holds, at most 32, where --seconds or the limit of 10 s makes clips shorter than the files; else 1");
  table.add("group", c.group, "REGEX",
            "the group of a file, by its path below DIR: its first part in brackets, or all that it matches; "
            "without it: the sensor or the recording where names have the form above, else each file is its own");
  table.add("delimiter", c.delimiter, "TEXT", "between the parts of such names");
  table.add("seed", c.seed, "N", "of the split: 70 % training, 20 % validation, 10 % testing");
  table.add("threads", c.threads, "N", "0: one per core, or as many as are faster; changes nothing of the set");
  add_tuning(table, c.tuning, "--threads where it is 0");
  table.add(
      "surrogates", c.surrogates, "N",
      "after the split, add N surrogates of every training file: IAAFT noise with the file's values and spectrum, "
      "for sounds without a course of their own, such as leaks. Named FILE~iaaftN; validation and test get none");
  table.add_switch("waveforms", c.waveforms,
                   "also write what the spectrograms were made of, float32 at the set's rate: TRAINING_WAVEFORMS.H5, "
                   "VALIDATION_WAVEFORMS.H5, TESTING_WAVEFORMS.H5; 'tutti evaluate --report' plays them");
  add_trace(table, c.trace);
  table.add_switch("dry-run", c.dry_run,
                   "read everything, report what the set would hold and how large it would be, and write nothing");
  table.examples({"tutti prepare classifier --data sounds --out set",
                  "tutti prepare classifier --data digits --out set --group '_([a-z]+)_'",
                  "tutti prepare classifier --data esc50/meta.csv --out set"});
  return table;
}

Result<void> check(const PrepareClassifier& c) {
  if (c.data.empty() || c.out.empty())
    return fail(Fault::usage, "prepare classifier needs recordings and a folder for the set",
                "Name them with --data and --out");
  constexpr std::int32_t kLeastRate = 100, kMostRate = 1'000'000, kMostMels = 512;
  constexpr double kMostSeconds = 600;
  if (c.rate != 0 && (c.rate < kLeastRate || c.rate > kMostRate))
    return fail(Fault::usage, "--rate: expected 100 to 1000000, found " + std::to_string(c.rate));
  if (c.seconds < 0 || c.seconds > kMostSeconds)
    return fail(Fault::usage, "--seconds: expected 0 to 600, found " + show_value(c.seconds));
  if (c.mels < 0 || c.mels > kMostMels)
    return fail(Fault::usage, "--mels: expected 0 to 512, found " + std::to_string(c.mels));
  if (c.preset.starts_with("leak") && (c.rate != 0 || c.seconds != 0 || c.mels != 0))
    return fail(Fault::usage, "--preset " + c.preset + ": it has its own rate, length and mels",
                "Leave out --rate, --seconds and --mels, or take --preset clip");
  constexpr std::int32_t kMostSurrogates = 100;
  if (c.surrogates < 0 || c.surrogates > kMostSurrogates)
    return fail(Fault::usage, "--surrogates: expected 0 to 100, found " + std::to_string(c.surrogates));
  constexpr std::int32_t kMostClipsNamed = 10'000;
  if (c.clips_per_file < 0 || c.clips_per_file > kMostClipsNamed)
    return fail(Fault::usage, "--clips-per-file: expected 0 to 10000, found " + std::to_string(c.clips_per_file));
  if (c.front_end == "linear" && c.preset.starts_with("leak"))
    return fail(Fault::usage, "--front-end linear: the preset " + c.preset + " has mels",
                "Take --preset clip, or leave --front-end out");
  if (auto other = expect_other_out(c.out, c.data); !other) return other;
  return check_thread_count("--threads", c.threads);
}

SetBuildOptions options_of(const PrepareClassifier& c) {
  SetBuildOptions options{.data = c.data,
                          .root = c.root,
                          .out = c.out,
                          .preset = c.preset,
                          .group = c.group,
                          .delimiter = c.delimiter,
                          .seed = c.seed,
                          .threads = c.threads > 0 ? c.threads : std::max(1, read_cpu().cores),
                          .clips_per_file = c.clips_per_file,
                          .linear = c.front_end == "linear",
                          .surrogates = c.surrogates,
                          .waveforms = c.waveforms,
                          .dry_run = c.dry_run};
  if (c.rate > 0) options.rate = Hertz{c.rate};
  if (c.seconds > 0) options.seconds = Seconds(c.seconds);
  if (c.mels > 0) options.n_mels = c.mels;
  return options;
}

/// Applies BUILDER_LOG_LEVEL, the variable of field note 003's builder. True: every file that is left out is named.
Result<bool> apply_builder_log_level() {
  const auto level = TRY(log_level_variable("BUILDER_LOG_LEVEL"));
  if (level >= LogDetail::warning) log_from(level == LogDetail::error ? Level::error : Level::warning);
  return level == LogDetail::debug;
}

void print_label(const std::string& name, const std::vector<std::int64_t>& counts, std::int64_t groups) {
  std::printf("  %-20s %7lld training %7lld validation %7lld testing, %lld groups\n", name.c_str(),
              static_cast<long long>(counts[0]), static_cast<long long>(counts[1]), static_cast<long long>(counts[2]),
              static_cast<long long>(groups));
}

void print_count(std::int64_t count, const char* what) {
  if (count > 0) std::printf("%lld files %s\n", static_cast<long long>(count), what);
}

void print_report(const PrepareClassifier& c, const SetBuildReport& report) {
  const auto& g = report.geometry;
  std::printf("%lld of %lld files, %s\n", static_cast<long long>(report.used), static_cast<long long>(report.found),
              (c.dry_run ? "nothing was written" : "in " + c.out.string()).c_str());
  std::printf("geometry %s: %d Hz, %.3f s, %lld x %lld segments of %d mels x %lld frames (n_fft %d, hop %d); %.1f MB\n",
              g.name.c_str(), g.mel.rate.value, g.seconds().count(), static_cast<long long>(g.longs),
              static_cast<long long>(g.shorts), g.mel.n_mels, static_cast<long long>(g.frames()), g.mel.n_fft,
              g.mel.hop, static_cast<double>(report.size.value) / 1e6);
  if (report.clips > report.used)
    std::printf("%lld clips: several of each longer file, in one part; its answer is their vote\n",
                static_cast<long long>(report.clips));
  if (c.waveforms)
    std::printf("waveforms, in files of their own: %.1f MB\n", static_cast<double>(report.waveforms.value) / 1e6);
  for (std::size_t label = 0; label < report.split.labels.size(); ++label)
    print_label(report.split.labels[label], report.split.files[label], report.split.groups[label]);
  print_count(report.resumed, "had been computed by an earlier run that was interrupted");
  if (report.surrogates > 0)
    std::printf("%lld surrogates of training files were added to them\n", static_cast<long long>(report.surrogates));
  print_count(report.cut, "are longer than the clip, and were cut");
  print_count(report.padded, "are shorter than the clip, and were filled up with zeros");
  print_count(report.moved, "begin with digital silence: their clips begin where their audio does");
  print_count(report.out_of_water, "left out: a gain of 1 dB, the hydrophone was not in water");
  print_count(report.bad_gain, "left out: a gain outside 0 to 200 dB");
  const std::string endings = report.other_endings.empty() ? "" : " (" + endings_text(report.other_endings) + ")";
  print_count(report.others, ("are no recordings by their name" + endings + ", or have no label").c_str());
  if (report.bad > 0)
    print_count(report.bad, ("left out as unusable, see " + (c.out / kBadSampleList).string()).c_str());
  for (const auto& warning : warnings_of(report)) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (!report.has_groups)
    std::fprintf(stderr,
                 "warning: each file is a group of its own. Where several come from one recording, one sensor or one "
                 "speaker, the result looks better than it is: name the group with --group\n");
}

/// Threads that the files can keep busy: a few for each, or starting them costs more than they save.
int most_threads(const PrepareClassifier& c) {
  constexpr std::int64_t kFilesEach = 8, kMost = 64;
  std::int64_t files = 0;  // what is wrong with the data is reported by the build
  if (is_labelled_manifest(c.data)) {
    if (const auto list = read_file(c.data)) files = std::ranges::count(*list, '\n');
  } else if (const auto found = find_labelled_files(c.data)) {
    files = std::ssize(found->files);
  }
  return static_cast<int>(std::clamp<std::int64_t>(files / kFilesEach, 1, kMost));
}

/// Checks that no file of the set, nor the trace, replaces what it is made of, or what another program wrote.
Result<OutputOwnership> claim_set(const PrepareClassifier& c) {
  OutputOwnership files("Name another folder with --out");
  files.add_input(c.data);
  for (const auto part : {SetPart::training, SetPart::validation, SetPart::testing})
    for (const auto& file : {set_file(c.out, part), waveform_file(c.out, part)}) TRY(files.claim(file, "the set"));
  TRY(files.claim(c.out / kBadSampleList, "the set"));
  TRY(claim_trace(files, c.trace));
  return files;
}

}  // namespace

int run_prepare_classifier(const std::vector<std::string>& words) {
  PrepareClassifier command;
  auto table = table_of(command);
  if (const auto code = start_command(table, words)) return *code;
  if (auto checked = check(command); !checked) return complain(checked.error(), kUsage);
  const auto files = claim_set(command);
  if (!files) return complain(files.error());
  const auto verbose = apply_builder_log_level();
  if (!verbose) return complain(verbose.error(), kUsage);
  auto options = options_of(command);
  options.verbose = *verbose;
  CommandTrace trace;
  if (const auto begun = trace.begin(command.trace, *files, command_line("tutti prepare classifier", words)); !begun)
    return complain(begun.error());
  Interrupt interrupt;
  BuildProgress progress(interrupt, "files");
  PipelineRecorder recorder("prepare", "files",
                            {{.name = "make", .threads = options.threads, .threads_flag = "--threads"}});
  TuningPlan plan{.pipeline = "prepare classifier",
                  .stages = {{.name = "make",
                              .resource = StageResource::cpu,
                              .is_open = command.threads == 0,
                              .most = most_threads(command)}}};
  if (auto set = set_tuning(command.tuning, plan); !set) return complain(set.error(), kUsage);
  recorder.tune(std::move(plan));
  if (command.threads == 0) options.threads = std::min(options.threads, most_threads(command));
  options.threads = recorder.threads_of("make", options.threads);
  options.watched = &recorder;
  const auto report =
      build_labelled_set(options, [&](std::int64_t done, std::int64_t all) { return progress(done, all); });
  if (report) print_report(command, *report);
  const int code = report ? static_cast<int>(kDone) : complain(report.error(), interrupt);
  return end_with_finding(recorder.conclude(), code);
}

}  // namespace tutti
