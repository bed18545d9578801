#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>

#include "advise/change.h"
#include "advise/tuning.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/profile/described_run.h"
#include "cli/profile/emulated_pipeline.h"
#include "cli/profile/pipeline_file.h"

namespace tutti {
namespace {

struct ProfileCommand {
  std::filesystem::path pipeline{};
  bool json = false;
  bool simulate = false;
  std::string apply{};
  bool tune = false;
  std::optional<std::int32_t> threads_budget{};
  std::optional<std::int32_t> queue_budget{};
};

void add_profile(OptionTable& table, ProfileCommand& c) {
  table.add("pipeline", c.pipeline, "FILE.toml",
            "a described pipeline: run it with emulated stages on real threads and queues, and find what limits it");
  table.add_switch("simulate", c.simulate, "predict from the description alone, without a run");
  table.add_list("apply", c.apply, "CHANGE",
                 "first change the pipeline: STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N; may be repeated");
  table.add_switch("json", c.json, "print the result as one JSON object");
  table.group("Settings that tune themselves");
  table.add_switch("tune", c.tune, "find the threads and queues with the highest rate, run with them, print both");
  table.add("threads-budget", c.threads_budget, "N", "threads of all stages together; default: as many as the file has");
  table.add("queue-budget", c.queue_budget, "N",
            "items that may wait in all queues together; default: as many as the file has");
  table.examples({"tutti profile --pipeline feed.toml", "tutti profile --pipeline feed.toml --apply decode.threads=4",
                  "tutti profile --pipeline feed.toml --tune --threads-budget 12 --queue-budget 48 --json"});
}

Result<PipelineModel> with_changes(PipelineModel pipeline, const std::string& changes) {
  for (const std::string_view text : split(changes, ',')) {
    const auto change = parse_change(text, pipeline);
    if (!change) return fail_in("--apply", change.error());
    pipeline = changed(std::move(pipeline), *change);
  }
  return pipeline;
}

/// For tests of ourselves: TUTTI_PROFILE_SLOWED=decode=1.5 makes a stage slower than described, behind the model's back.
Result<std::map<std::size_t, double>> slowed_stages(const PipelineModel& pipeline) {
  const auto text = variable("TUTTI_PROFILE_SLOWED");
  if (!text) return std::map<std::size_t, double>{};
  const auto equals = text->rfind('=');
  const auto factor = number_in<double>(text->substr(equals == std::string::npos ? text->size() : equals + 1));
  const std::size_t stage = stage_index(pipeline, text->substr(0, equals));
  if (!factor || !(*factor > 0) || stage == pipeline.stages.size())
    return fail(Fault::usage, "TUTTI_PROFILE_SLOWED: expected STAGE=FACTOR, found '" + *text + "'");
  return std::map<std::size_t, double>{{stage, *factor}};
}

/// Without a run: the figures of the long replay.
DescribedRun simulated(const PipelineModel& pipeline, Seconds length) {
  DescribedRun run{.pipeline = pipeline, .diagnosis = diagnose(pipeline, length)};
  const auto played = replay(pipeline);
  run.figures.items_per_s = run.diagnosis->items_per_s;
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s) {
    const StageModel& stage = pipeline.stages[s];
    std::vector<Seconds> times(stage.times->size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = stage.service(i);
    std::ranges::sort(times);
    const Seconds sum = std::accumulate(times.begin(), times.end(), Seconds(0));
    run.figures.stages.push_back({.shares = played.stages[s],
                                  .items = times.size(),
                                  .mean = sum / static_cast<double>(times.size()),
                                  .p95 = times[times.size() * 95 / 100]});
  }
  return run;
}

Result<DescribedRun> measured(const PipelineModel& pipeline, Seconds length) {
  const auto slowed = slowed_stages(pipeline);
  if (!slowed) return tl::unexpected(slowed.error());
  const auto run = run_emulated(pipeline, {.part = representative_part(pipeline, length), .slowed = *slowed});
  if (!run) return tl::unexpected(run.error());
  DescribedRun result{.pipeline = pipeline, .figures = figures_of(pipeline, *run)};
  for (std::size_t s = 0; s < pipeline.stages.size(); ++s)
    if (result.figures.stages[s].items == 0)
      return fail(Fault::usage,
                  "stage '" + pipeline.stages[s].name + "': no item was finished in " + number_text(length.count()) +
                      " s, so nothing was measured",
                  "Give the run more 'seconds'");
  result.model_error = model_error(pipeline, *run);
  if (result.model_error <= kMostModelError) result.diagnosis = diagnose(pipeline, length);
  return result;
}

Result<DescribedRun> run_once(const PipelineModel& pipeline, Seconds length, bool simulate) {
  if (simulate) return simulated(pipeline, length);
  return measured(pipeline, length);
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments) {
  ProfileCommand command;
  OptionTable table("profile", "Find out where the time of a pipeline goes, what limits it, and which change would gain.");
  add_profile(table, command);
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.pipeline.empty())
    return complain({Fault::usage, "expected --pipeline FILE.toml", "See 'tutti profile --help'"}, kUsage);
  const auto described = read_pipeline(command.pipeline);
  if (!described) return complain(described.error(), kUsage);
  const auto pipeline = with_changes(described->pipeline, command.apply);
  if (!pipeline) return complain(pipeline.error(), kUsage);
  const auto run = run_once(*pipeline, described->length, command.simulate);
  if (!run) return complain(run.error());
  std::fputs((command.json ? json_of(*run) + "\n" : text_of(*run)).c_str(), stdout);
  return kDone;
}

}  // namespace tutti
