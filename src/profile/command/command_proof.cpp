#include "profile/command/command_proof.h"

#include <algorithm>
#include <utility>

#include "advise/pipeline_run.h"
#include "advise/recorded_tuning.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "profile/experiment.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Those that choose their threads, and have flags for them.
const std::vector<std::string> kTuned{"features", "prepare", "transcribe"};

constexpr int kMostCorrections = 2;
constexpr double kNoticedCores = 0.2;

/// As any command ends that an error ends.
ProofEnd ended_by(const Error& error) {
  return {error.fault == Fault::usage ? kUsage : kNothingRan, error};
}

/// The changes to prove: those that were named, or the first that a flag makes, if anything was predicted.
Result<std::vector<Change>> changes_to_prove(const CommandProfile& profile, const RunRecording& recording,
                                             const std::optional<Diagnosis>& found) {
  std::vector<Change> changes;
  for (const std::string_view text : split(profile.apply, ',')) {
    auto change = parse_flag_change(std::string(text), recording);
    if (!change) return fail_in(field("apply"), change.error());
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

/// The command once more with the changes of what `recording` was, beside what was predicted. `code`: kNotProven where
/// the measured rate is outside of that, or that of a run that failed.
struct ProvenRun {
  int code = kDone;
  double rate = 0;
  CommandRun run{};
};

Result<ProvenRun> prove_changes(const RunRecording& recording, const std::vector<Change>& changes,
                                const std::vector<std::string>& more, const ProofRuns& runs) {
  const Fix predicted = predict(recording, changes);
  const auto flags = all_flags_of(recording, changes);
  std::vector<std::string> added = flags_that_keep(recording);
  added.insert(added.end(), more.begin(), more.end());
  added.insert(added.end(), flags.begin(), flags.end());
  auto again = TRY(runs.again(added, ""));
  if (has_failed(again)) return ProvenRun{.code = again.code};
  if (!again.recording) return tl::unexpected(again.recording.error());
  const double measured = rate_of(*again.recording);
  const bool holds = measured >= predicted.low && measured <= predicted.high;
  runs.say("\nWith " + joined(flags, " ") + ": predicted " + rate_text(predicted.items_per_s, recording) + " (" +
           short_number(predicted.low) + " to " + short_number(predicted.high) + "), measured " +
           short_number(measured) + ", before " + short_number(rate_of(recording)) + ": " +
           (holds ? "proven\n" : "not proven\n"));
  const double others = again.machine.other_cores;
  if (!holds && others >= kNoticedCores)
    runs.say("Other programs took " + fixed_text(others, 1) + " cores during that run, which may be why\n");
  return ProvenRun{.code = holds ? kDone : kNotProven, .rate = measured, .run = std::move(again)};
}

/// What may be used: of memory as much more as the run had items in work.
Result<RecordedBudget> budget_of(const CommandProfile& profile, Bytes used) {
  const auto growth = growth_within(used, profile.memory.value_or(Bytes{}));
  if (!growth) return fail_in(field("memory"), growth.error());
  RecordedBudget budget{.growth = *growth};
  if (profile.threads_budget) budget.threads = *profile.threads_budget;
  return budget;
}

}  // namespace

std::vector<std::string> flags_for_outputs_in(const fs::path& folder, const CommandProfile& profile) {
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

ProofEnd prove_fix(const CommandProfile& profile, const RunRecording& recording, const std::optional<Diagnosis>& found,
                   const ProofRuns& runs) {
  const auto changes = changes_to_prove(profile, recording, found);
  if (!changes) return {kUsage, changes.error()};
  if (!found) return {kNotProven, Error{Fault::unavailable, "nothing was predicted, so nothing can be proven"}};
  if (changes->empty()) {
    runs.say("No flag would gain 2 %: there is nothing to prove.\n");
    return {};
  }
  const auto proven = prove_changes(recording, *changes, {}, runs);
  return proven ? ProofEnd{proven->code} : ended_by(proven.error());
}

ProofEnd experiment_with_stages(const CommandProfile& profile, const CommandRun& first, bool explained,
                                const ProofRuns& runs) {
  const RunRecording& recording = *first.recording;
  Experiments all{.unit = recording.unit, .rate = rate_of(recording), .cpu_stall = first.machine.cpu_stall};
  for (const StageModel& stage : model_of(recording).stages) {
    const auto again = runs.again(flags_that_keep(recording), stage.name);
    if (!again) return ended_by(again.error());
    if (has_failed(*again)) return {again->code};
    if (!again->recording) return {kNothingRan, again->recording.error()};
    StageExperiment one{.stage = stage.name, .measured = rate_of(*again->recording)};
    if (explained) one.predicted = predict(recording, {twice_as_fast(stage)});
    all.stages.push_back(std::move(one));
  }
  runs.say(profile.json ? json_line(nlohmann::ordered_json{{"experiments", experiments_json(all)}}) + "\n"
                        : experiments_text(all));
  return {};
}

ProofEnd tune_command(const CommandProfile& profile, const CommandRun& first, const ProofRuns& runs) {
  RunRecording recording = *first.recording;
  if (model_error(recording) > kMostModelError)
    return {kNotProven, Error{Fault::unavailable, "nothing was predicted, so nothing can be tuned"}};
  std::vector<std::string> flags;
  int code = kDone;
  for (int corrections = 0; corrections < kMostCorrections; ++corrections) {
    const auto budget = budget_of(profile, corrections == 0 ? first.memory : most_child_memory());
    if (!budget) return corrections == 0 ? ProofEnd{kUsage, budget.error()} : ProofEnd{code};
    const auto changes = tuned_settings(recording, *budget);
    if (changes.empty()) {
      if (corrections == 0) runs.say("No other settings are faster by replay: the run has the best ones.\n");
      return {code};
    }
    const auto proven = prove_changes(recording, changes, flags, runs);
    if (!proven) return ended_by(proven.error());
    code = proven->code;
    if (code != kDone && code != kNotProven) return {code};
    if (proven->rate <= rate_of(recording)) {
      runs.say("They are not faster: leave the settings as they were.\n");
      return {code};
    }
    for (std::string& flag : all_flags_of(recording, changes)) flags.push_back(std::move(flag));
    recording = *proven->run.recording;
    if (model_error(recording) > kMostModelError) return {code};
  }
  return {code};
}

}  // namespace tutti
