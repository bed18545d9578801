#include "cli/profile/profile_forms.h"

#include <algorithm>

namespace tutti {
namespace {

void add_seconds(OptionTable& table, ProfileFlags& flags) {
  table.add("seconds", flags.command.seconds, "S",
            "stop the command after so many seconds, as Ctrl+C does, and report what was measured; 0: let it end");
}

void add_json(OptionTable& table, bool& json) {
  table.add_switch("json", json, "one JSON object: on standard error for a command, else on standard output");
}

void add_command(OptionTable& table, ProfileFlags& flags) {
  table.group(
      "A command: tutti profile [OPTION]... -- tutti batch|classify|evaluate|features|prepare|train|transcribe "
      "ARGUMENT..., or "
      "from outside, with --seconds and --json alone: tutti profile -- PROGRAM ARGUMENT...");
  add_seconds(table, flags);
  table.add("steps", flags.steps, "N", "a training: end it after so many steps; 0: let it end");
  table.add_switch("prove", flags.command.prove,
                   "run it again with the first fix, or with --apply, and compare with what was predicted; exit code 5 "
                   "where the measured rate is outside of the predicted range");
  table.add(
      "memory", flags.memory, "SIZE",
      "of --tune: what the command's largest process may have, such as 4GiB; more items in work are taken to need "
      "more of it in proportion. Default: no bound");
}

void add_pipeline(OptionTable& table, PipelineCommand& c) {
  table.group("A described pipeline: tutti profile --pipeline FILE.toml");
  table.add("pipeline", c.file, "FILE.toml",
            "run this pipeline with emulated stages on real threads and queues, and find what limits it");
  table.add_switch("simulate", c.simulate, "predict from the description alone, without a run");
  table.add("queue-budget", c.queue_budget, "N",
            "items that may wait in all queues together; default: as many as the file has");
}

/// What a command of tutti and a described pipeline have in the same words, each for its own run.
template <class Run>
void add_both(OptionTable& table, Run& run) {
  table.group("Both");
  table.add_switch(
      "tune", run.tune,
      "a pipeline: find the threads and queues with the highest rate, run with them, print both as JSON. A "
      "command: run it again with the threads and queues that are fastest by replay, and compare as --prove does; "
      "where that run shows others to be faster, once more");
  table.add("threads-budget", run.threads_budget, "N",
            "of --tune: threads of all stages together; default: as many as the file has; of a command's flags, 64");
  table.add_switch(
      "experiment", run.experiment,
      "run again for each stage as if it were twice as fast: while it works, all others are held back, and "
      "that is left out of the time. Prints measured beside predicted gains; of a command: features, "
      "prepare classifier or prepare tts");
  table.add_list("apply", run.apply, "CHANGE",
                 "a pipeline: change it first, by STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N. A command, "
                 "with --prove: the change to run again with. May be repeated");
  table.add("html", run.html, "FILE", "also write the profile as a page");
  table.add(
      "trace", run.trace, "FILE",
      "also write what each thread did when, as a trace that ui.perfetto.dev opens: the command's own --trace; of "
      "--prove and --tune it is the first run's");
  add_json(table, run.json);
}

void add_comparison(OptionTable& table, ProfileFlags& flags) {
  table.group("Two profiles: tutti profile --compare BEFORE.json AFTER.json");
  table.add_switch(
      "compare", flags.compare,
      "compare two runs by what --json printed of them: rates, utilisation, and how sure the difference is");
}

void add_import(OptionTable& table, ProfileFlags& flags) {
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
}

OptionTable empty_table(ProfileFlags& flags) {
  OptionTable table(
      "profile",
      "Find out where the time of a run goes, what limits it, and which change would gain. "
      "docs/profile.md explains the figures and the pipeline file. 'tutti profile train --help': field note 002's "
      "profile of a training.");
  table.positional(flags.files, "FILE", "the two files of --compare, or the traces of --import", 0);
  return table;
}

void add_form(OptionTable& table, ProfileForm form, ProfileFlags& flags) {
  switch (form) {
    case ProfileForm::command:
      add_command(table, flags);
      add_both(table, flags.command);
      break;
    case ProfileForm::program:
      add_seconds(table, flags);
      add_json(table, flags.command.json);
      break;
    case ProfileForm::pipeline:
      add_pipeline(table, flags.pipeline);
      add_both(table, flags.pipeline);
      break;
    case ProfileForm::comparison:
      add_comparison(table, flags);
      add_json(table, flags.json);
      break;
    case ProfileForm::import:
      add_import(table, flags);
      add_json(table, flags.json);
      break;
  }
}

/// What a form is called, and what to do in it instead of what another form's flag would.
OptionForm described(ProfileForm form) {
  switch (form) {
    case ProfileForm::command: return {.name = "a command of tutti"};
    case ProfileForm::program: return {.name = "another program"};
    case ProfileForm::pipeline:
      return {.name = "a described pipeline",
              .advice = {{"memory", "A pipeline has --queue-budget"},
                         {"prove", "A pipeline is run with its change by --apply"},
                         {"seconds", "A pipeline's file has 'seconds'"},
                         {"steps", "A pipeline's file has 'seconds'"}}};
    case ProfileForm::comparison: return {.name = "a comparison of two profiles"};
    case ProfileForm::import: return {.name = "an import of traces"};
  }
  return {};
}

OptionForm with_options(ProfileForm form) {
  ProfileFlags unused;
  OptionTable table = empty_table(unused);
  add_form(table, form, unused);
  OptionForm described_form = described(form);
  for (const auto& [name, value] : table.values()) described_form.options.push_back(name);
  return described_form;
}

constexpr ProfileForm kForms[] = {ProfileForm::command, ProfileForm::program, ProfileForm::pipeline,
                                  ProfileForm::comparison, ProfileForm::import};

}  // namespace

std::optional<ProfileForm> profile_form(std::span<const std::string> words, const std::vector<std::string>* command) {
  if (command) return is_own_command(*command) ? ProfileForm::command : ProfileForm::program;
  std::optional<ProfileForm> pipeline;
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag == "--compare") return ProfileForm::comparison;
    if (flag == "--import") return ProfileForm::import;
    if (flag == "--pipeline") pipeline = ProfileForm::pipeline;
  }
  return pipeline;
}

OptionTable profile_table(ProfileForm form, ProfileFlags& flags) {
  OptionTable table = empty_table(flags);
  add_form(table, form, flags);
  std::vector<OptionForm> others;
  for (const ProfileForm other : kForms)
    if (other != form) others.push_back(with_options(other));
  OptionForm own = described(form);
  const std::vector<std::string>& command = flags.command.command;
  if (form == ProfileForm::program && !command.empty()) own.name += ", '" + command.front() + "'";
  table.form(std::move(own), std::move(others));
  return table;
}

OptionTable whole_profile_table(ProfileFlags& flags) {
  OptionTable table = empty_table(flags);
  add_command(table, flags);
  add_pipeline(table, flags.pipeline);
  add_both(table, flags.command);
  add_comparison(table, flags);
  add_import(table, flags);
  table.examples({"tutti profile --prove -- tutti features talks/*.mp3",
                  "tutti profile --seconds 60 -- tutti transcribe --model tiny.en -o out talks/*.mp3",
                  "tutti profile --json -- tutti features talks/*.mp3 2> before.json",
                  "tutti profile --compare before.json after.json",
                  "tutti profile --import rank0.pt.trace.json.gz rank1.pt.trace.json.gz",
                  "tutti profile --pipeline feed.toml --experiment",
                  "tutti profile --pipeline feed.toml --apply decode.threads=4 --html feed.html",
                  "tutti profile --pipeline feed.toml --tune --threads-budget 12 --queue-budget 48 --json"});
  return table;
}

std::span<const OptionRule> profile_rules(ProfileForm form) {
  static const OptionRule kOfCommands[] = {
      {.option = "threads-budget", .needs = "tune"},
      {.option = "memory", .needs = "tune"},
      {.option = "tune", .excludes = {"prove", "apply"}, .why = "chooses its own changes to prove"},
      {.option = "experiment", .excludes = {"tune", "prove"}, .why = "makes runs of its own"},
      {.option = "apply", .needs = "prove"}};
  static const OptionRule kOfPipelines[] = {
      {.option = "threads-budget", .needs = "tune"},
      {.option = "queue-budget", .needs = "tune"},
      {.option = "html", .excludes = {"tune"}, .why = "is for a profile"},
      {.option = "trace", .excludes = {"tune", "simulate", "experiment"}, .why = "is for one run"},
      {.option = "experiment", .excludes = {"tune", "simulate"}, .why = "is for runs"}};
  if (form == ProfileForm::command) return kOfCommands;
  if (form == ProfileForm::pipeline) return kOfPipelines;
  return {};
}

}  // namespace tutti
