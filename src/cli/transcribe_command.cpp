#include "cli/transcribe_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/display/run_display.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "hub/files_of_model.h"
#include "hub/find.h"
#include "hub/memory_plan.h"
#include "planning/memory/device_memory.h"
#include "planning/memory/memory_table.h"
#include "transcribe/output_plan.h"
#include "transcribe/reports/run_report.h"
#include "transcribe/run.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

/// Nothing where it is not known before the model is loaded.
std::optional<MemoryQuestion> question_of(const TranscribeOptions& options) {
  const auto shape = model_shape(options.model);
  const auto device = device_memory(options.device);
  if (!shape || !device) return std::nullopt;
  const auto usual = device->gpu ? kUsualGpuSlots : kUsualCpuSlots;
  return MemoryQuestion{.shape = *shape,
                        .device = device->name,
                        .available = device->available,
                        .windows = options.batch_size > 0 ? options.batch_size : usual,
                        .beams = std::max(1, options.decoding.beams()),
                        .text_positions = text_positions_of(options, *shape),
                        .fillers = options.deterministic ? kFixedRows : 0,
                        .gpu = device->gpu,
                        .byte_cross = device->byte_cross};
}

void say_memory(const TranscribeOptions& options) {
  const auto question = question_of(options);
  std::fputs(
      question ? memory_table(*question).c_str() : "How much memory it takes is not known before the model is loaded\n",
      stdout);
}

/// Why a file that is to be read cannot be; empty: it can, or is standard input.
std::string problem_of(const PlannedFile& file) {
  std::error_code ignored;
  if (file.already_done || file.input == "-") return "";
  if (std::filesystem::is_directory(file.input, ignored)) return "expected a sound file, found a folder";
  return ::access(file.input.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

void say_file(const PlannedFile& file, const std::string& problem) {
  const auto say = [](const std::string& line) { std::puts(without_controls(line).c_str()); };
  const std::string name = file.input.string();
  if (file.already_done) return say(name + " (done already)");
  if (!problem.empty()) return say(name + ": " + problem);
  say(name);
  for (const auto& output : file.outputs) say("  -> " + output.string());
}

/// Prints on standard output what a run would read and write and, for people, what memory it would take; reads and
/// makes nothing. `json`: an event a line instead, `planned`, `skipped` or `failed`. Answers the exit code that the run
/// will have for what is known before it.
int dry_run(const std::vector<PlannedFile>& plan, const TranscribeOptions& options, bool json) {
  if (const auto folders = expect_folders_of(plan); !folders) return complain(folders.error(), kNothingRan);
  if (json) {
    if (const auto question = question_of(options)) std::fputs(memory_json(*question).c_str(), stdout);
  } else {
    std::printf("Model %s, device %s, compute type %s\n", options.model.c_str(), options.device.c_str(),
                options.compute_type.c_str());
    say_memory(options);
  }
  int exit_code = kDone;
  for (const auto& file : plan) {
    const std::string problem = problem_of(file);
    if (!problem.empty()) exit_code = kSomeFailed;
    if (json)
      std::fputs(planned_json(file, problem).c_str(), stdout);
    else
      say_file(file, problem);
  }
  return exit_code;
}

Display display_of(const TranscribeCommand& command) {
  if (command.json) return Display::json;
  if (command.quiet || !command.verbose) return Display::quiet;
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  const bool wants_text = command.verbose.value_or(false);
  return on_terminal || !wants_text ? Display::live : Display::plain;
}

Error no_model() {
  return {Fault::usage, "no model is named, and none is taken by default: which one fits depends on the audio",
          "Name one with --model or TUTTI_MODEL. 'tutti models' lists what is here; 'tutti pull tiny.en' gets a small "
          "English one, 'tutti pull turbo' a good one for 100 languages"};
}

/// Checks that a device which was named is there. Auto and the whole CPU always are, and querying the driver takes
/// time. Where nothing is left to do, its name alone must be one.
Result<void> find_named_device(const std::string& device, const std::vector<PlannedFile>& plan) {
  if (device == "auto" || device == "cpu") return {};
  const auto spec = TRY(parse_device(device));
  if (std::ranges::all_of(plan, &PlannedFile::already_done)) return {};
  TRY(resolve(spec, find_devices()));
  return {};
}

int stopped() {
  log(Level::warning, "stopped; finished files are kept. Run the same command with --skip-existing to go on");
  return kInterrupted;
}

int exit_code(const RunSummary& summary) {
  if (summary.interrupted) return stopped();
  return summary.failed > 0 || summary.failed_commands > 0 ? kSomeFailed : kDone;
}

/// Begins the trace of --trace, a file that the run neither reads nor writes otherwise.
Result<void> begin_trace(CommandTrace& trace, const TranscribeCommand& command, const std::vector<PlannedFile>& plan,
                         const std::filesystem::path& model, const std::string& line) {
  if (command.trace.empty()) return {};
  OutputOwnership files = ownership_of(plan);
  for (const auto& file : files_of_model(model)) files.add_input(file);
  for (const auto& file : plan)
    for (const auto& output : file.outputs)
      if (auto claimed = files.claim(output, "a transcript"); !claimed) return claimed;
  if (auto claimed = claim_trace(files, command.trace); !claimed) return claimed;
  return trace.begin(command.trace, files, line);
}

int transcribe(const std::vector<PlannedFile>& plan, const TranscribeOptions& options,
               const TranscribeCommand& command) {
  TuningPlan tuning;
  if (const auto set = set_tuning(command.tuning, tuning); !set) return complain(set.error(), kUsage);
  if (const auto made = make_folders_of(plan); !made) return complain(made.error(), kNothingRan);
  Interrupt interrupt;
  const Display display = display_of(command);
  Result<RunSummary> summary = [&] {
    const auto observer = make_display(display, plan);
    return run_transcription(plan, options, *observer, interrupt, tuning);
  }();
  if (!summary && summary.error().fault == Fault::cancelled) return stopped();  // while the model was still loading
  if (!summary) return complain(summary.error(), interrupt);
  if (display == Display::json)
    std::fputs(summary_json(*summary).c_str(), stdout);
  else if (display != Display::quiet)
    std::fputs(summary_text(*summary).c_str(), stderr);
  else if (!summary->replaced.empty())
    std::fputs((replaced_text(summary->replaced) + "\n").c_str(), stderr);
  return exit_code(*summary);
}

}  // namespace

int run_transcribe(const std::vector<std::string>& arguments) {
  TranscribeCommand command;
  OptionTable table("transcribe",
                    "Speech to text with a Whisper model: every FILE becomes its transcript in --output-dir.");
  add_transcribe(table, command);
  table.examples({"tutti transcribe --model tiny.en talk.mp3",
                  "tutti transcribe --model turbo --language de -f srt -o subs --name-by path talks/*.mp3",
                  "tutti transcribe --model turbo --batched --compute-type auto -f txt -o out lecture.flac",
                  "tutti transcribe --model small --word-timestamps --max-words-per-line 4 -f vtt talk.m4a"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.quiet) log_from(Level::error);

  const auto plan = plan_outputs(command.files, output_options(command));
  if (!plan) return complain(plan.error(), kUsage);
  if (command.model.empty()) return complain(no_model(), kUsage);
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = command.model_dir;
  const auto model = find_named_model(command.model, folders);
  if (!model) return complain(model.error());
  if (const auto apart = expect_none_read(*plan, files_of_model(*model)); !apart) return complain(apart.error());
  const std::filesystem::path lists[] = {command.replace, command.hotwords_file};
  if (const auto apart = expect_none_read(*plan, lists); !apart) return complain(apart.error());
  const auto options = run_options(command, *model);
  if (!options) return complain(options.error(), kUsage);
  if (const auto there = find_named_device(options->device, *plan); !there) return complain(there.error());
  if (command.dry_run) return dry_run(*plan, *options, command.json);
  CommandTrace trace;
  if (const auto begun = begin_trace(trace, command, *plan, *model, command_line("tutti transcribe", arguments));
      !begun)
    return complain(begun.error());
  return transcribe(*plan, *options, command);
}

}  // namespace tutti
