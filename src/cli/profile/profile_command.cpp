#include <algorithm>
#include <cstdio>
#include <span>

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

/// What is profiled: a command, or a described pipeline. What reads files of earlier runs has the flags of the second.
enum class Form { command, pipeline };

/// What a command, a described pipeline, and what reads files of earlier runs have in the same words. Each form binds
/// them to its own fields.
struct SharedFlags {
  bool& json;
  bool& tune;
  bool& experiment;
  std::optional<std::int32_t>& threads_budget;
  std::string& apply;
  std::filesystem::path& html;
  std::filesystem::path& trace;
};

template <class Fields>
SharedFlags shared_by(Fields& f) {
  return {f.json, f.tune, f.experiment, f.threads_budget, f.apply, f.html, f.trace};
}

/// All flags. Those of another form than the one that is called are refused.
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

void add_profile(OptionTable& table, ProfileFlags& flags, Form form) {
  PipelineCommand& c = flags.pipeline;
  const SharedFlags both = form == Form::command ? shared_by(flags.command) : shared_by(c);
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
      "tune", both.tune,
      "a pipeline: find the threads and queues with the highest rate, run with them, print both as JSON. A "
      "command: run it again with the threads and queues that are fastest by replay, and compare as --prove does; "
      "where that run shows others to be faster, once more");
  table.add("threads-budget", both.threads_budget, "N",
            "of --tune: threads of all stages together; default: as many as the file has; of a command's flags, 64");
  table.add_switch(
      "experiment", both.experiment,
      "run again for each stage as if it were twice as fast: while it works, all others are held back, and "
      "that is left out of the time. Prints measured beside predicted gains; of a command: features, "
      "prepare classifier or prepare tts");
  table.add_list("apply", both.apply, "CHANGE",
                 "a pipeline: change it first, by STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N. A command, "
                 "with --prove: the change to run again with. May be repeated");
  table.add("html", both.html, "FILE", "also write the profile as a page");
  table.add(
      "trace", both.trace, "FILE",
      "also write what each thread did when, as a trace that ui.perfetto.dev opens: the command's own --trace; of "
      "--prove and --tune it is the first run's");
  table.add_switch("json", both.json, "one JSON object: on standard error for a command, else on standard output");
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

/// A flag that one form has alone, and what to say of it where another one is called.
struct OwnFlag {
  const char* name;
  const char* why;
};
constexpr OwnFlag kOfCommands[] = {{"memory", "is for a command; a pipeline has --queue-budget"},
                                   {"prove", "is for a command; a pipeline is run with its change by --apply"},
                                   {"seconds", "is for a command; a pipeline's file has 'seconds'"},
                                   {"steps", "is for a training; a pipeline's file has 'seconds'"}};
constexpr OwnFlag kOfPipelines[] = {{"simulate", "is for a pipeline, and a command was given"},
                                    {"queue-budget", "is for a pipeline, and a command was given"}};

/// What is refused: the first of another form's flags that changes something; empty: none.
std::string first_foreign(const OptionTable& table, std::span<const OwnFlag> flags) {
  for (const auto& [name, why] : flags)
    if (table.is_changed(name)) return std::string("--") + name + ": " + why;
  return {};
}

int run_pipeline(const OptionTable& table, const PipelineCommand& c) {
  const char* alone = c.threads_budget ? "--threads-budget" : c.queue_budget ? "--queue-budget" : nullptr;
  if (alone && !c.tune) return refuse(std::string(alone) + ": has a meaning only with --tune");
  if (c.tune && !c.html.empty()) return refuse("--html: has no meaning with --tune, which prints settings alone");
  if (!c.trace.empty() && (c.tune || c.simulate || c.experiment))
    return refuse("--trace: is for one run, without --tune, --simulate and --experiment");
  if (c.experiment && (c.tune || c.simulate)) return refuse("--experiment: is for runs, without --tune and --simulate");
  if (const auto foreign = first_foreign(table, kOfCommands); !foreign.empty()) return refuse(foreign);
  return run_described(c);
}

/// A program that knows nothing of us: what is known of it has no flags to change.
int run_program(const OptionTable& table, const CommandProfile& profile) {
  if (profile.command.empty()) return refuse("expected a program behind --, found nothing");
  for (const char* own : {"prove", "tune", "experiment", "steps", "html", "trace", "apply"})
    if (table.is_changed(own))
      return refuse(std::string("--") + own + ": is for a command of tutti, and '" + profile.command.front() +
                    "' is none");
  if (profile.seconds < 0) return refuse("--seconds: expected 0 or more");
  return profile_program(profile);
}

int run_command(const OptionTable& table, CommandProfile profile, std::int32_t steps, const std::string& memory) {
  if (const auto foreign = first_foreign(table, kOfPipelines); !foreign.empty()) return refuse(foreign);
  if (profile.threads_budget && (!profile.tune || *profile.threads_budget < 1))
    return refuse("--threads-budget: expected 1 or more, with --tune");
  if (!memory.empty()) {
    profile.memory = parse_bytes(memory);
    if (!profile.memory) profile.memory = parse_bytes(memory + "B");
    if (!profile.tune || !profile.memory || profile.memory->value <= 0)
      return refuse("--memory: expected a size such as 4GiB, with --tune, found '" + memory + "'");
  }
  if (profile.tune && (profile.prove || !profile.apply.empty()))
    return refuse("--tune: chooses its own changes to prove");
  if (profile.experiment && (profile.tune || profile.prove))
    return refuse("--experiment: makes runs of its own, without --tune and --prove");
  if (!is_own_command(profile.command)) return run_program(table, profile);
  if (const auto why = why_not_profiled(profile.command)) return refuse(*why);
  if (const auto why = profile.experiment ? why_no_experiment(profile.command) : std::nullopt) return refuse(*why);
  if (steps < 0 || (steps > 0 && profile.command[1] != "train"))
    return refuse("--steps: expected 1 or more, of a training; --seconds ends any command");
  if (steps > 0) profile.command.insert(profile.command.end(), {"--max-steps", std::to_string(steps)});
  if (profile.seconds < 0) return refuse("--seconds: expected 0 or more");
  if (!profile.apply.empty() && !profile.prove) return refuse("--apply: for a command it needs --prove");
  return profile_command(profile).code;
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

OptionTable table_of(ProfileFlags& flags, Form form) {
  OptionTable table(
      "profile",
      "Find out where the time of a run goes, what limits it, and which change would gain. "
      "docs/profile.md explains the figures and the pipeline file. 'tutti profile train --help': field note 002's "
      "profile of a training.");
  add_profile(table, flags, form);
  add_readers(table, flags);
  return table;
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "train") return run_train_profile({arguments.begin() + 1, arguments.end()});
  const auto end = std::ranges::find(arguments, "--");
  const bool has_command = end != arguments.end();
  ProfileFlags flags;
  OptionTable table = table_of(flags, has_command ? Form::command : Form::pipeline);
  if (const auto code = start_command(table, {arguments.begin(), end})) return *code;
  const bool is_other = has_command || !flags.pipeline.file.empty();
  if (flags.compare)
    return is_other ? refuse("--compare: compares two files, and nothing else") : run_comparison(flags);
  if (flags.import) return is_other ? refuse("--import: reads traces, and nothing else") : run_import(flags);
  if (!flags.files.empty()) return refuse("'" + flags.files[0] + "': a command begins behind --");
  if (has_command == !flags.pipeline.file.empty())
    return refuse(has_command ? "expected a command or --pipeline, found both"
                              : "expected --pipeline FILE.toml, or a command behind --");
  if (!has_command) return run_pipeline(table, flags.pipeline);
  flags.command.command.assign(end + 1, arguments.end());
  return run_command(table, flags.command, flags.steps, flags.memory);
}

}  // namespace tutti
