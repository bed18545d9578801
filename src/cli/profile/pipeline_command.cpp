#include "cli/profile/pipeline_command.h"

#include <cstdio>
#include <utility>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "profile/described_profile.h"
#include "profile/page_file.h"
#include "profile/pipeline_file.h"

namespace tutti {

int run_described(const PipelineCommand& command) {
  const auto described = read_pipeline(command.file);
  if (!described) return complain(described.error(), kUsage);
  const auto pipeline = with_changes(described->pipeline, command.apply);
  if (!pipeline) return complain(pipeline.error(), kUsage);
  const auto page = PageFile::claim(command.html, {command.file.string()});
  if (!page) return complain(page.error(), kUsage);
  CommandTrace trace;
  if (const auto begun = trace.begin_beside({command.file}, command.trace,
                                            command_line("tutti profile --pipeline", {command.file.string()}));
      !begun)
    return complain(begun.error());
  if (command.tune) {
    const auto settings =
        tuned_settings_json(*pipeline, described->length,
                            {.threads = command.threads_budget, .queue = command.queue_budget}, command.simulate);
    if (!settings) return complain(settings.error());
    std::puts(settings->c_str());
    return kDone;
  }
  auto run = command.simulate ? Result<DescribedRun>(simulated_run(*pipeline, described->length))
                              : measured_run(*pipeline, described->length);
  if (!run) return complain(run.error());
  if (command.experiment) {
    auto experiments = run_experiments(*run, described->length);
    if (!experiments) return complain(experiments.error());
    run->experiments = std::move(*experiments);
  }
  std::fputs((command.json ? json_of(*run) + "\n" : text_of(*run)).c_str(), stdout);
  if (!page->is_wanted()) return kDone;
  const auto written = page->write(page_of(*run, "Profile of " + command.file.filename().string()));
  return written ? static_cast<int>(kDone) : complain(written.error());
}

}  // namespace tutti
