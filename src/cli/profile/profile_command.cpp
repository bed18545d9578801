#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/profile/pipeline_command.h"

namespace tutti {
namespace {

void add_profile(OptionTable& table, PipelineCommand& c) {
  table.add("pipeline", c.file, "FILE.toml",
            "a described pipeline: run it with emulated stages on real threads and queues, and find what limits it");
  table.add_switch("simulate", c.simulate, "predict from the description alone, without a run");
  table.add_list(
      "apply", c.apply, "CHANGE",
      "change the pipeline first: STAGE.threads=N, STAGE.queue=N, STAGE.speed=X or cores=N; may be repeated");
  table.add_switch("json", c.json, "print the result as one JSON object");
  table.group("Settings that tune themselves");
  table.add_switch("tune", c.tune, "find the threads and queues with the highest rate, run with them, print both");
  table.add("threads-budget", c.threads_budget, "N",
            "threads of all stages together; default: as many as the file has");
  table.add("queue-budget", c.queue_budget, "N",
            "items that may wait in all queues together; default: as many as the file has");
  table.examples({"tutti profile --pipeline feed.toml", "tutti profile --pipeline feed.toml --apply decode.threads=4",
                  "tutti profile --pipeline feed.toml --tune --threads-budget 12 --queue-budget 48 --json"});
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments) {
  PipelineCommand command;
  OptionTable table("profile",
                    "Find out where the time of a pipeline goes, what limits it, and which change would gain. "
                    "docs/profile.md describes the pipeline file.");
  add_profile(table, command);
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.file.empty())
    return complain({Fault::usage, "expected --pipeline FILE.toml", "See 'tutti profile --help'"}, kUsage);
  const char* alone = command.threads_budget ? "--threads-budget" : command.queue_budget ? "--queue-budget" : nullptr;
  if (alone && !command.tune)
    return complain({Fault::usage, std::string(alone) + ": has a meaning only with --tune"}, kUsage);
  return run_described(command);
}

}  // namespace tutti
