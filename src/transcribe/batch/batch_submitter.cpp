#include "transcribe/batch/batch_submitter.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "audio/length/sound_length.h"
#include "base/log.h"

namespace tutti {
namespace {

constexpr std::size_t kSubmitAtOnce = 1000;
constexpr Seconds kSubmitEvery{2};

/// Nobody said how long it is: its own header may.
TaskSpec with_length(TaskSpec spec) {
  if (spec.audio) return spec;
  const auto length = sound_length(spec.input);
  if (!length || !*length) return spec;
  spec.audio = **length;
  spec.length = LengthSource::probed;
  return spec;
}

}  // namespace

Result<RunId> BatchSubmitter::begin() {
  auto run = store_.begin_run({.command = options_.command,
                               .batch = options_.batch,
                               .model = options_.run.model.string(),
                               .compute_type = options_.run.compute_type});
  if (run) run_ = *run;
  return run;
}

void BatchSubmitter::Told::add(const std::string& which) {
  if (++count_ == 1) first_ = which;
}

void BatchSubmitter::Told::tell(const char* what, const char* then) const {
  if (count_ > 0)
    log(Level::warning, std::string("Recordings that ") + what + ": " + std::to_string(count_) +
                            " (the first: " + first_ + "). " + then);
}

Result<void> BatchSubmitter::submit(const Clock& clock) {
  files_.expect(tasks_.size());
  for (std::size_t first = 0; first < tasks_.size();) {
    const auto specs = next_portion(first, clock);
    if (stopped_()) {
      files_.expect(0);
      return {};
    }
    if (auto submitted = submit(tasks_.subspan(first, specs.size()), specs); !submitted) return submitted;
    first += specs.size();
  }
  if (anew_ > 0)
    log(Level::info, "Recordings that have changed since an earlier run, or are asked for in another way: " +
                         std::to_string(anew_) + ". They are done anew");
  left_alone_.tell("failed for good or were cancelled in an earlier run",
                   "They are left alone; --retry-failed does them again");
  overwritten_.tell("overwrite what an earlier run wrote for another one", "Another --output-dir keeps both");
  files_.all_added();
  files_.tell_work();
  return {};
}

std::vector<TaskSpec> BatchSubmitter::next_portion(std::size_t first, const Clock& clock) const {
  const auto began = clock.now();
  std::vector<TaskSpec> specs;
  for (const BatchTask& task : tasks_.subspan(first, std::min(kSubmitAtOnce, tasks_.size() - first))) {
    if (!specs.empty() && (stopped_() || clock.now() - began > kSubmitEvery)) break;
    specs.push_back(with_length(task.spec));
  }
  return specs;
}

Result<void> BatchSubmitter::submit(std::span<const BatchTask> portion, const std::vector<TaskSpec>& specs) {
  auto answers = files_.room().patiently({}, [&] { return store_.submit(run_, specs); });
  if (!answers) return tl::unexpected(answers.error());
  anew_ += std::ranges::count(*answers, Submitted::What::renewed, &Submitted::what);
  if (auto mended = reopen(*answers, TaskState::done); !mended) return mended;
  if (options_.retry_failed)
    for (const TaskState state : {TaskState::dead, TaskState::cancelled})
      if (auto reopened = reopen(*answers, state); !reopened) return reopened;
  std::vector<AskedTask> asked;
  for (std::size_t i = 0; i < portion.size(); ++i) {
    leave_alone((*answers)[i], specs[i]);
    overwrite((*answers)[i], specs[i]);
    asked.push_back({(*answers)[i], &portion[i], specs[i].audio, stuck_at((*answers)[i])});
  }
  files_.add(asked);
  return {};
}

/// Where an earlier run has given it up.
void BatchSubmitter::leave_alone(const Submitted& answer, const TaskSpec& spec) {
  if (answer.state != TaskState::dead && answer.state != TaskState::cancelled) return;
  left_alone_.add(spec.name);
}

/// Where an earlier run wrote the same outputs for another file, which is still there: not one that was only moved.
void BatchSubmitter::overwrite(const Submitted& answer, const TaskSpec& spec) {
  std::error_code gone;
  if (answer.was.empty() || !std::filesystem::exists(answer.was, gone)) return;
  if (std::filesystem::equivalent(answer.was, spec.input, gone)) return;
  overwritten_.add(spec.key + ".*, of " + answer.was);
}

/// Why the outputs of a done task could not be put in place at the start.
std::string BatchSubmitter::stuck_at(const Submitted& task) const {
  const auto found = std::ranges::find(stuck_, task.id, &SweepReport::Stuck::task);
  return found == stuck_.end() || task.state != TaskState::done ? std::string() : found->why.text();
}

/// Queues those of a state again, if they are to be: done ones whose outputs are gone, failed ones.
Result<void> BatchSubmitter::reopen(std::vector<Submitted>& answers, TaskState state) {
  TaskFilter filter;
  for (const auto& answer : answers) {
    if (answer.state == state) filter.ids.push_back(answer.id);
  }
  if (filter.ids.empty()) return {};
  const auto which = options_.existing == Existing::replace ? JobStore::Redo::missing_or_kept : JobStore::Redo::missing;
  const auto changed = state == TaskState::done ? store_.redo(filter, which) : store_.retry(filter);
  if (!changed) return tl::unexpected(changed.error());
  if (*changed == 0) return {};
  filter.states = {TaskState::queued};
  const auto queued = store_.tasks(filter, 0, filter.ids.size());
  if (!queued) return tl::unexpected(queued.error());
  for (const auto& task : *queued)
    for (auto& answer : answers)
      if (answer.id == task.id) std::tie(answer.state, answer.submitted) = std::tie(task.state, task.submitted);
  return {};
}

}  // namespace tutti
