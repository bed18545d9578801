#include "transcribe/batch/batch_done.h"

#include <unordered_map>

#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"

namespace tutti {
namespace {

constexpr std::size_t kTasksAtOnce = 1000;

using TasksByKey = std::unordered_map<std::string, Task>;

/// Those of a batch that are done, by TaskSpec::key.
Result<TasksByKey> done_tasks(JobStore& store, const std::string& batch) {
  TasksByKey done;
  const TaskFilter filter{.batch = batch, .states = {TaskState::done}};
  for (TaskId last = 0;;) {
    auto some = store.tasks(filter, last, kTasksAtOnce);
    if (!some) return tl::unexpected(some.error());
    if (some->empty()) return done;
    last = some->back().id;
    for (Task& task : *some) done.emplace(task.spec.key, std::move(task));
  }
}

bool is_in_place(JobStore& store, TaskId task, Existing existing) {
  const auto outputs = store.outputs(task);
  return outputs && !outputs->empty() && outputs_are_there(*outputs, existing);
}

/// As it was done, called what it is called now.
BatchAsset asset_of(const Task& done, const TaskSpec& asked) {
  return {.uuid = asked.uuid,
          .name = asked.name,
          .status = std::string(name_of(TaskState::done)),
          .device = done.device,
          .attempts = done.attempts,
          .audio = done.spec.audio.value_or(Seconds(0)),
          .extra = asked.extra};
}

}  // namespace

std::optional<BatchReport> report_if_all_done(std::span<const BatchTask> tasks, const BatchOptions& options) {
  const auto store = open_store_if_there(options.state);
  if (!store || !*store) return {};
  const std::filesystem::path staging[] = {options.staging, options.kept};
  if (!sweep_outputs(**store, staging, options.existing)) return {};
  for (const auto& folder : staging) leave_staging(folder);
  const auto done = done_tasks(**store, options.batch);
  if (!done) return {};
  BatchReport report;
  report.started = report.ended = std::chrono::system_clock::now();
  for (const BatchTask& task : tasks) {
    const auto known = done->find(task.spec.key);
    if (known == done->end() || !is_same_work(known->second.spec, task.spec)) return {};
    if (!is_in_place(**store, known->second.id, options.existing)) return {};
    report.counts.add(TaskState::done);
    report.assets.push_back(asset_of(known->second, task.spec));
  }
  report.before = report.counts;
  return report;
}

}  // namespace tutti
