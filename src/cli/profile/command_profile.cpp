#include "cli/profile/command_profile.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "advise/pipeline_run.h"
#include "advise/recorded_tuning.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "base/program_paths.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/profile/page_file.h"
#include "cli/temporary_folder.h"
#include "metrics/recording_request.h"
#include "profile/core_watch.h"
#include "profile/experiment.h"
#include "profile/gpu_watch.h"
#include "profile/machine_watch.h"
#include "profile/phase_table.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kProfiled{"batch", "classify", "evaluate", "features", "prepare", "train", "transcribe"};

/// Those that choose their threads, and have flags for them.
const std::vector<std::string> kTuned{"features", "prepare", "transcribe"};

constexpr int kMostCorrections = 2;
constexpr double kNoticedCores = 0.2;
constexpr Seconds kUsualGpus{0.5}, kOftenGpus{0.1};  // between two readings

/// The memory that the largest of the children that have ended had at its most.
Bytes most_memory() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return Bytes{1024 * std::int64_t{used.ru_maxrss}};
}

/// Has the calling thread, and the processes that it starts, run on these cores alone until its end; none: as before.
class OnCores {
 public:
  explicit OnCores(const std::vector<int>& cores) {
    if (cores.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int core : cores) {
      fails_ |= !CPU_ISSET(static_cast<std::size_t>(core), &before_);
      CPU_SET(static_cast<std::size_t>(core), &wanted);
    }
    is_set_ = !fails_ && ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
    fails_ |= !is_set_;
  }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;
  ~OnCores() {
    if (is_set_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  bool fails() const { return fails_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false, fails_ = false;
};

/// How a run of the command ended, and what it recorded.
struct CommandRun {
  int code = kDone;
  MachineEvidence machine{};
  Bytes memory{};                // of the largest process, at its most
  std::map<int, GpuUse> gpus{};  // by N of cuda:N
  Result<RunRecording> recording = fail(Fault::missing, "");
};

/// `more`: flags behind the command's own; `sped_up`: the stage of an experiment, empty: it is none.
Result<CommandRun> run(const CommandProfile& profile, const std::vector<std::string>& more, ChildStreams streams,
                       const std::string& sped_up = {}) {
  const TemporaryFolder folder;
  if (!folder.path()) return tl::unexpected(folder.path().error());
  const fs::path recording = *folder.path() / "recording.json";
  std::vector<std::string> command = profile.command;
  command.front() = program_paths().tutti.string();
  command.insert(command.end(), more.begin(), more.end());
  const ReceivedSignals signals;  // before any thread
  const MachineWatch machine;
  const bool watches_gpus = !profile.training || profile.training->watches_gpus;
  std::optional<GpuWatch> gpus;
  if (watches_gpus) gpus.emplace(profile.training ? kOftenGpus : kUsualGpus);
  const RecordingRequest request{.recording = recording,
                                 .warm_up = profile.training ? profile.training->warm_up : 0,
                                 .sped_up = sped_up,
                                 .trace = recording_request().trace};
  const auto cores = std::make_unique<OnCores>(profile.cores);
  if (cores->fails())
    return fail(Fault::missing, "cpu:" + joined(profile.cores, ", cpu:", [](int core) {
                                  return std::to_string(core);
                                }) + ": expected cores that this process may use");
  const auto child = Child::start(
      {.name = profile.command[1], .command = command, .environment = request.environment(), .streams = streams});
  if (!child) return tl::unexpected(child.error());
  CoreWatch cores_wanted((*child)->pid());
  ChildWatch watch(**child, signals, streams == ChildStreams::terminal,
                   [&](int signal) { ::kill((*child)->pid(), signal); });
  CommandRun done{.code = end_of(**child, watch, profile.seconds)};
  done.machine = machine.evidence(cores_wanted.stop());
  done.memory = most_memory();
  if (gpus) done.gpus = gpus->stop();
  for (const auto& [number, gpu] : done.gpus)
    if (!gpu.held_back.is_empty()) done.machine.hot = std::max(done.machine.hot, gpu.held_back.mean());
  done.recording = read_recording(recording);
  return done;
}

void print(const std::string& text) {
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

/// The changes to prove: those that were named, or the first that a flag makes, if anything was predicted.
Result<std::vector<Change>> changes_to_prove(const CommandProfile& profile, const RunRecording& recording,
                                             const std::optional<Diagnosis>& found) {
  std::vector<Change> changes;
  for (const std::string_view text : split(profile.apply, ',')) {
    auto change = parse_flag_change(std::string(text), recording);
    if (!change) return fail_in("--apply", change.error());
    changes.push_back(*change);
  }
  if (!changes.empty()) return changes;
  const auto has_flag = [&](const Change& change) { return !flags_of(recording, change).empty(); };
  if (!found) return changes;
  for (const auto* fixes : {&found->fixes, &found->together})
    for (const Fix& fix : *fixes)
      if (std::ranges::all_of(fix.changes, has_flag)) return fix.changes;
  return changes;
}

std::string rate_text(double rate, const RunRecording& recording) {
  return short_number(rate) + " " + recording.unit + " a second";
}

/// Flags that have a command write into `folder`, so that it does all of its work again and replaces nothing.
std::vector<std::string> outputs_in(const fs::path& folder, const CommandProfile& profile) {
  const std::string out = (folder / "again").string(), &command = profile.command[1];
  std::vector<std::string> flags;
  const auto is_trace = [](const std::string& word) { return word == "--trace" || word.starts_with("--trace="); };
  if (!profile.trace.empty() || std::ranges::any_of(profile.command, is_trace))
    flags = {"--trace", (folder / "again.pftrace").string()};
  if (command == "prepare" || command == "train") flags.insert(flags.end(), {"--out", out});
  if (command == "transcribe" || command == "batch") flags.insert(flags.end(), {"--output-dir", out});
  if (command == "batch") flags.insert(flags.end(), {"--state", (folder / "state").string()});
  return flags;
}

std::vector<std::string> all_flags_of(const RunRecording& recording, const std::vector<Change>& changes) {
  std::vector<std::string> flags;
  for (const Change& change : changes)
    for (std::string& flag : flags_of(recording, change)) flags.push_back(std::move(flag));
  return flags;
}

/// Flags that keep a command that chooses its threads to those of the recording, which the prediction is about.
std::vector<std::string> flags_that_keep(const RunRecording& recording) {
  std::vector<std::string> flags;
  if (std::ranges::find(kTuned, recording.command) == kTuned.end()) return flags;
  for (const RecordedStage& stage : recording.stages)
    if (!stage.threads_flag.empty() && std::ranges::find(flags, stage.threads_flag) == flags.end())
      flags.insert(flags.end(), {stage.threads_flag, std::to_string(stage.threads)});
  return flags;
}

/// The command once more, elsewhere.
Result<CommandRun> run_again(const CommandProfile& profile, const std::vector<std::string>& more,
                             const std::string& sped_up = {}) {
  const TemporaryFolder elsewhere;
  if (!elsewhere.path()) return tl::unexpected(elsewhere.path().error());
  std::vector<std::string> flags = outputs_in(*elsewhere.path(), profile);
  flags.insert(flags.end(), more.begin(), more.end());
  return run(profile, flags, ChildStreams::errors, sped_up);
}

bool has_failed(const CommandRun& run) {
  return run.code != kDone && run.code != kSomeFailed;
}

/// The command once more with the changes of what `recording` was, beside what was predicted. `code`: kNotProven where
/// the measured rate is outside of that, or that of a run that failed.
struct ProvenRun {
  int code = kDone;
  double rate = 0;
  CommandRun run{};
};

Result<ProvenRun> prove_changes(const CommandProfile& profile, const RunRecording& recording,
                                const std::vector<Change>& changes, const std::vector<std::string>& more) {
  const Fix predicted = predict(recording, changes);
  const auto flags = all_flags_of(recording, changes);
  std::vector<std::string> added = flags_that_keep(recording);
  added.insert(added.end(), more.begin(), more.end());
  added.insert(added.end(), flags.begin(), flags.end());
  auto again = run_again(profile, added);
  if (!again) return tl::unexpected(again.error());
  if (has_failed(*again)) return ProvenRun{.code = again->code};
  if (!again->recording) return tl::unexpected(again->recording.error());
  const double measured = rate_of(*again->recording);
  const bool holds = measured >= predicted.low && measured <= predicted.high;
  print("\nWith " + joined(flags, " ") + ": predicted " + rate_text(predicted.items_per_s, recording) + " (" +
        short_number(predicted.low) + " to " + short_number(predicted.high) + "), measured " + short_number(measured) +
        ", before " + short_number(rate_of(recording)) + ": " + (holds ? "proven\n" : "not proven\n"));
  const double others = again->machine.other_cores;
  if (!holds && others >= kNoticedCores)
    print("Other programs took " + fixed_text(others, 1) + " cores during that run, which may be why\n");
  return ProvenRun{.code = holds ? kDone : kNotProven, .rate = measured, .run = std::move(*again)};
}

/// Runs again with the changes; the exit code.
int prove(const CommandProfile& profile, const RunRecording& recording, const std::optional<Diagnosis>& found) {
  const auto changes = changes_to_prove(profile, recording, found);
  if (!changes) return complain(changes.error(), kUsage);
  if (!found) return complain({Fault::unavailable, "nothing was predicted, so nothing can be proven"}, kNotProven);
  if (changes->empty()) {
    print("No flag would gain 2 %: there is nothing to prove.\n");
    return kDone;
  }
  const auto proven = prove_changes(profile, recording, *changes, {});
  return proven ? proven->code : complain(proven.error());
}

/// Runs again for each stage, with that one twice as fast; the exit code. `explained`: predictions can be made.
int experiment(const CommandProfile& profile, const CommandRun& first, bool explained) {
  const RunRecording& recording = *first.recording;
  Experiments all{.unit = recording.unit, .rate = rate_of(recording), .cpu_stall = first.machine.cpu_stall};
  for (const StageModel& stage : model_of(recording).stages) {
    const auto again = run_again(profile, flags_that_keep(recording), stage.name);
    if (!again) return complain(again.error());
    if (has_failed(*again)) return again->code;
    if (!again->recording) return complain(again->recording.error(), kNothingRan);
    StageExperiment one{.stage = stage.name, .measured = rate_of(*again->recording)};
    if (explained) one.predicted = predict(recording, {twice_as_fast(stage)});
    all.stages.push_back(std::move(one));
  }
  print(profile.json ? json_line(nlohmann::ordered_json{{"experiments", experiments_json(all)}}) + "\n"
                     : experiments_text(all));
  return kDone;
}

/// What may be used: of memory as much more as the run had items in work.
Result<RecordedBudget> budget_of(const CommandProfile& profile, Bytes used) {
  const auto growth = growth_within(used, profile.memory.value_or(Bytes{}));
  if (!growth) return fail_in("--memory", growth.error());
  RecordedBudget budget{.growth = *growth};
  if (profile.threads_budget) budget.threads = *profile.threads_budget;
  return budget;
}

/// Runs again with the settings that replay fastest, and where these are others by that run's own recording once more.
/// The exit code: that of the last run's proof.
int tune(const CommandProfile& profile, const CommandRun& first) {
  RunRecording recording = *first.recording;
  if (model_error(recording) > kMostModelError)
    return complain({Fault::unavailable, "nothing was predicted, so nothing can be tuned"}, kNotProven);
  std::vector<std::string> flags;
  int code = kDone;
  for (int corrections = 0; corrections < kMostCorrections; ++corrections) {
    const auto budget = budget_of(profile, corrections == 0 ? first.memory : most_memory());
    if (!budget) return corrections == 0 ? complain(budget.error(), kUsage) : code;
    const auto changes = tuned_settings(recording, *budget);
    if (changes.empty()) {
      if (corrections == 0) print("No other settings are faster by replay: the run has the best ones.\n");
      return code;
    }
    const auto proven = prove_changes(profile, recording, changes, flags);
    if (!proven) return complain(proven.error());
    code = proven->code;
    if (code != kDone && code != kNotProven) return code;
    if (proven->rate <= rate_of(recording)) {
      print("They are not faster: leave the settings as they were.\n");
      return code;
    }
    for (std::string& flag : all_flags_of(recording, changes)) flags.push_back(std::move(flag));
    recording = *proven->run.recording;
    if (model_error(recording) > kMostModelError) return code;
  }
  return code;
}

PhaseDevices devices_of(const TrainingProfile& training, const CommandRun& run) {
  // As a training takes it: the first GPU, else the processor.
  const auto named = [&](const std::string& device) {
    return device != "auto" ? device : run.gpus.empty() ? "cpu" : "cuda:0";
  };
  PhaseDevices devices{
      .data = named(training.devices.data), .model = named(training.devices.model), .process_memory = run.memory};
  const auto use_of = [&](const std::string& device) {
    constexpr std::string_view kGpu = "cuda:";
    const auto number = device.starts_with(kGpu) ? number_in<int>(device.substr(kGpu.size())) : std::nullopt;
    const auto found = number ? run.gpus.find(*number) : run.gpus.end();
    return found == run.gpus.end() ? GpuUse() : found->second;
  };
  const GpuUse data = use_of(devices.data), model = use_of(devices.model);
  devices.data_load = data.load, devices.model_load = model.load;
  devices.data_memory = data.memory, devices.model_memory = model.memory;
  return devices;
}

}  // namespace

bool is_own_command(const std::vector<std::string>& command) {
  return !command.empty() && fs::path(command.front()).filename() == "tutti";
}

std::optional<std::string> why_not_profiled(const std::vector<std::string>& command) {
  if (command.size() < 2) return "expected a command of tutti behind --, found none";
  if (std::ranges::find(kProfiled, command[1]) != kProfiled.end()) return std::nullopt;
  const std::string nearest = nearest_name(command[1], kProfiled);
  return "'" + command[1] + "' cannot be profiled: expected " + joined(kProfiled, ", ") +
         (nearest.empty() ? "" : ". Did you mean '" + nearest + "'?");
}

std::optional<std::string> why_no_experiment(const std::vector<std::string>& command) {
  const std::string kind = command.size() > 2 ? command[2] : "";
  if (command[1] == "features" || (command[1] == "prepare" && (kind == "classifier" || kind == "tts")))
    return std::nullopt;
  return "--experiment: expected features, prepare classifier or prepare tts, all of whose stages can be held back, "
         "found " +
         command[1];
}

ProfileEnd profile_command(const CommandProfile& profile) {
  const auto page = PageFile::claim(profile.html, profile.command);
  if (!page) return {complain(page.error(), kUsage)};
  std::vector<std::string> more;
  if (!profile.trace.empty()) more = {"--trace", profile.trace.string()};
  const auto first = run(profile, more, ChildStreams::terminal);
  if (!first) return {complain(first.error())};
  const bool failed = has_failed(*first);
  if (!first->recording) {
    const Error& why = first->recording.error();
    const int code = failed ? complain({why.fault, "nothing was measured: the command failed before"}, kNothingRan)
                            : complain(why, kNothingRan);
    return {first->code == kDone ? code : first->code};
  }
  const ProfiledRun profiled{*first->recording, diagnose(*first->recording),
                             side_causes(*first->recording, first->machine)};
  ProfileEnd end{first->code, profiled.recording};
  const std::string others = other_programs_text(profiled.causes);
  if (!profile.json) print(others);
  if (profile.training && profiled.recording.phases && !profile.json)
    print(phase_text(*profiled.recording.phases, devices_of(*profile.training, *first),
                     {.lengths = profiled.recording.lengths, .others = others}) +
          "\n");
  print(profile.json ? profile_json(profiled) + "\n" : profile_text(profiled));
  if (page->is_wanted())
    if (const auto written = page->write(profile_page(profiled, joined(profile.command, " "))); !written)
      return {complain(written.error()), profiled.recording};
  if (failed || !(profile.prove || profile.tune || profile.experiment)) return end;
  const int again = profile.experiment ? experiment(profile, *first, profiled.found.has_value())
                    : profile.tune     ? tune(profile, *first)
                                       : prove(profile, profiled.recording, profiled.found);
  if (again != kDone) end.code = again;
  return end;
}

ProfileEnd record_command(const CommandProfile& profile) {
  auto done = run(profile, {}, ChildStreams::errors);
  if (!done) return {complain(done.error())};
  if (done->code != kDone) return {done->code};
  if (!done->recording) return {complain(done->recording.error(), kNothingRan)};
  return {kDone, std::move(*done->recording)};
}

}  // namespace tutti
