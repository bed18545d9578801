#include <algorithm>
#include <cstdio>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/profile/command_profile.h"
#include "cli/profile/pipeline_command.h"
#include "device/emulated_spec.h"
#include "profile/comparison.h"
#include "traces/trace_import.h"

namespace tutti {
namespace {

/// All flags; those of the two ways to call the command are checked apart.
struct ProfileFlags {
  PipelineCommand pipeline{};
  CommandProfile command{};
  std::int32_t steps = 0;
  std::string memory{};
  bool compare = false;
  bool import = false;
  TraceOptions trace{};
  std::vector<std::string> files{};  // of --compare and --import
};

void add_profile(OptionTable& table, ProfileFlags& flags) {
  PipelineCommand& c = flags.pipeline;
  table.group(
      "A command: tutti profile [OPTION]... -- tutti batch|classify|evaluate|features|prepare|train|transcribe "
      "ARGUMENT..., or "
      "from outside, with --seconds and --json alone: tutti profile -- PROGRAM ARGUMENT...");
  table.add("seconds", flags.command.seconds, "S",
            "stop the command after so many seconds, as Ctrl+C does, and report what was measured; 0: let it end");
  table.add("steps", flags.steps, "N", "a training: end it after so many steps; 0: let it end");
  table.add_switch("prove", flags.command.prove,
                   "run it again with the first fix, or with --apply, and compare with what was predicted; exit code 5 "
                   "where the measured rate is outside of the predicted range");
  table.add(
      "memory", flags.memory, "SIZE",
      "of --tune: what the command's largest process may have, such as 4GiB; more items in work are taken to need "
      "more of it in proportion. Default: no bound");
  table.group("A described pipeline: tutti profile --pipeline FILE.toml");
  table.add("pipeline", c.file, "FILE.toml",
            "run this pipeline with emulated stages on real threads and queues, and find what limits it");
  table.add_switch("simulate", c.simulate, "predict from the description alone, without a run");
  table.add("queue-budget", c.queue_budget, "N",
            "items that may wait in all queues together; default: as many as the file has");
  table.group("Both");
  table.add_switch(
      "tune", c.tune,
      "a pipeline: find the threads and queues with the highest rate, run with them, print both as JSON. A "
      "command: run it again with the threads and queues that are fastest by replay, and compare as --prove does; "
      "where that run shows others to be faster, once more");
  table.add("threads-budget", c.threads_budget, "N",
            "of --tune: threads of all stages together; default: as many as the file has; of a command's flags, 64");
  table.add_switch(
      "experiment", c.experiment,
      "run again for each stage as if it were twice as fast: while it works, all others are held back, and "
      "that is left out of the time. Prints measured beside predicted gains; of a command: features, "
      "prepare classifier or prepare tts");
  table.add_list("apply", c.apply, "CHANGE",
                 "a pipeline: change it first, by STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N. A command, "
                 "with --prove: the change to run again with. May be repeated");
  table.add("html", c.html, "FILE", "also write the profile as a page");
  table.add(
      "trace", c.trace, "FILE",
      "also write what each thread did when, as a trace that ui.perfetto.dev opens: the command's own --trace; of "
      "--prove and --tune it is the first run's");
  table.add_switch("json", c.json, "one JSON object: on standard error for a command, else on standard output");
}

/// What reads files of earlier runs, and the examples.
void add_readers(OptionTable& table, ProfileFlags& flags) {
  table.group("Two profiles: tutti profile --compare BEFORE.json AFTER.json");
  table.add_switch(
      "compare", flags.compare,
      "compare two runs by what --json printed of them: rates, utilisation, and how sure the difference is");
  table.group("Traces of other profilers: tutti profile --import TRACE...");
  table.add_switch(
      "import", flags.import,
      "say why a GPU was idle by traces of a run, one file a rank: .json or .json.gz of PyTorch's profiler, "
      "or SQLite as Nsight Systems exports it");
  table.add("step", flags.trace.step, "NAME",
            "each event of the host whose name begins so is a step; default: ProfilerStep#, then Optimizer.step#, then "
            "kernels that come again in the same order");
  table.add("kernel-gap", flags.trace.kernel_gap, "NS",
            "a shorter gap between two kernels is a kernel wait, in nanoseconds");
  table.positional(flags.files, "FILE", "the two files of --compare, or the traces of --import", 0);
  table.examples({"tutti profile --prove -- tutti features talks/*.mp3",
                  "tutti profile --seconds 60 -- tutti transcribe --model tiny.en -o out talks/*.mp3",
                  "tutti profile --json -- tutti features talks/*.mp3 2> before.json",
                  "tutti profile --compare before.json after.json",
                  "tutti profile --import rank0.pt.trace.json.gz rank1.pt.trace.json.gz",
                  "tutti profile --pipeline feed.toml --experiment",
                  "tutti profile --pipeline feed.toml --apply decode.threads=4 --html feed.html",
                  "tutti profile --pipeline feed.toml --tune --threads-budget 12 --queue-budget 48 --json"});
}

int refuse(const std::string& what) {
  return complain({Fault::usage, what, "See 'tutti profile --help'"}, kUsage);
}

int run_pipeline(const ProfileFlags& flags) {
  const PipelineCommand& c = flags.pipeline;
  const char* alone = c.threads_budget ? "--threads-budget" : c.queue_budget ? "--queue-budget" : nullptr;
  if (alone && !c.tune) return refuse(std::string(alone) + ": has a meaning only with --tune");
  if (c.tune && !c.html.empty()) return refuse("--html: has no meaning with --tune, which prints settings alone");
  if (!c.trace.empty() && (c.tune || c.simulate || c.experiment))
    return refuse("--trace: is for one run, without --tune, --simulate and --experiment");
  if (c.experiment && (c.tune || c.simulate)) return refuse("--experiment: is for runs, without --tune and --simulate");
  if (!flags.memory.empty()) return refuse("--memory: is for a command; a pipeline has --queue-budget");
  if (flags.command.prove) return refuse("--prove: is for a command; a pipeline is run with its change by --apply");
  if (flags.command.seconds > 0) return refuse("--seconds: is for a command; a pipeline's file has 'seconds'");
  if (flags.steps != 0) return refuse("--steps: is for a training; a pipeline's file has 'seconds'");
  return run_described(c);
}

/// A program that knows nothing of us: what is known of it has no flags to change.
int run_program(ProfileFlags& flags) {
  const auto& command = flags.command.command;
  if (command.empty()) return refuse("expected a program behind --, found nothing");
  const char* own = flags.command.prove             ? "--prove"
                    : flags.pipeline.tune           ? "--tune"
                    : flags.pipeline.experiment     ? "--experiment"
                    : flags.steps > 0               ? "--steps"
                    : !flags.pipeline.html.empty()  ? "--html"
                    : !flags.pipeline.trace.empty() ? "--trace"
                                                    : nullptr;
  if (own || !flags.pipeline.apply.empty())
    return refuse(std::string(own ? own : "--apply") + ": is for a command of tutti, and '" + command.front() +
                  "' is none");
  if (flags.command.seconds < 0) return refuse("--seconds: expected 0 or more");
  flags.command.json = flags.pipeline.json;
  return profile_program(flags.command);
}

int run_command(ProfileFlags& flags) {
  const PipelineCommand& c = flags.pipeline;
  const char* other = c.simulate ? "--simulate" : c.queue_budget ? "--queue-budget" : nullptr;
  if (other) return refuse(std::string(other) + ": is for a pipeline, and a command was given");
  if (c.threads_budget && (!c.tune || *c.threads_budget < 1))
    return refuse("--threads-budget: expected 1 or more, with --tune");
  if (!flags.memory.empty()) {
    flags.command.memory = parse_bytes(flags.memory);
    if (!flags.command.memory) flags.command.memory = parse_bytes(flags.memory + "B");
    if (!c.tune || !flags.command.memory || flags.command.memory->value <= 0)
      return refuse("--memory: expected a size such as 4GiB, with --tune, found '" + flags.memory + "'");
  }
  if (c.tune && (flags.command.prove || !c.apply.empty())) return refuse("--tune: chooses its own changes to prove");
  if (c.experiment && (c.tune || flags.command.prove))
    return refuse("--experiment: makes runs of its own, without --tune and --prove");
  if (!is_own_command(flags.command.command)) return run_program(flags);
  if (const auto why = why_not_profiled(flags.command.command)) return refuse(*why);
  if (const auto why = c.experiment ? why_no_experiment(flags.command.command) : std::nullopt) return refuse(*why);
  if (flags.steps < 0 || (flags.steps > 0 && flags.command.command[1] != "train"))
    return refuse("--steps: expected 1 or more, of a training; --seconds ends any command");
  if (flags.steps > 0)
    flags.command.command.insert(flags.command.command.end(), {"--max-steps", std::to_string(flags.steps)});
  if (flags.command.seconds < 0) return refuse("--seconds: expected 0 or more");
  if (!c.apply.empty() && !flags.command.prove) return refuse("--apply: for a command it needs --prove");
  flags.command.json = c.json;
  flags.command.html = c.html;
  flags.command.tune = c.tune;
  flags.command.experiment = c.experiment;
  flags.command.threads_budget = c.threads_budget;
  flags.command.apply = c.apply;
  flags.command.trace = c.trace;
  return profile_command(flags.command).code;
}

int run_comparison(const ProfileFlags& flags) {
  if (flags.files.size() != 2)
    return refuse("--compare: expected two files, found " + std::to_string(flags.files.size()));
  const auto before = read_profile(flags.files[0]), after = read_profile(flags.files[1]);
  for (const auto* run : {&before, &after})
    if (!*run) return complain(run->error());
  std::fputs((flags.pipeline.json ? comparison_json(*before, *after) + "\n" : comparison_text(*before, *after)).c_str(),
             stdout);
  return kDone;
}

int run_import(const ProfileFlags& flags) {
  if (flags.files.empty()) return refuse("--import: expected a trace, found none");
  if (flags.trace.kernel_gap < 0) return refuse("--kernel-gap: expected 0 or more nanoseconds");
  const auto devices = import_traces({flags.files.begin(), flags.files.end()}, flags.trace);
  if (!devices) return complain(devices.error());
  std::fputs((flags.pipeline.json ? trace_json(*devices) + "\n" : trace_text(*devices)).c_str(), stdout);
  return kDone;
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "train") return run_train_profile({arguments.begin() + 1, arguments.end()});
  ProfileFlags flags;
  OptionTable table(
      "profile",
      "Find out where the time of a run goes, what limits it, and which change would gain. "
      "docs/profile.md explains the figures and the pipeline file. 'tutti profile train --help': field note 002's "
      "profile of a training.");
  add_profile(table, flags);
  add_readers(table, flags);
  const auto end = std::ranges::find(arguments, "--");
  if (const auto code = start_command(table, {arguments.begin(), end})) return *code;
  const bool has_command = end != arguments.end();
  if (flags.compare) {
    if (has_command || !flags.pipeline.file.empty()) return refuse("--compare: compares two files, and nothing else");
    return run_comparison(flags);
  }
  if (flags.import) {
    if (has_command || !flags.pipeline.file.empty()) return refuse("--import: reads traces, and nothing else");
    return run_import(flags);
  }
  if (!flags.files.empty()) return refuse("'" + flags.files[0] + "': a command begins behind --");
  if (has_command == !flags.pipeline.file.empty())
    return refuse(has_command ? "expected a command or --pipeline, found both"
                              : "expected --pipeline FILE.toml, or a command behind --");
  if (!has_command) return run_pipeline(flags);
  flags.command.command.assign(end + 1, arguments.end());
  return run_command(flags);
}

}  // namespace tutti
