#include "transcribe/batch/batch_submitter.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "audio/containers/audio_length.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kSubmitAtOnce = 1000;
constexpr Seconds kSubmitEvery{2};

/// Its length was not declared: its own header may state it.
JobSpec with_length(JobSpec spec) {
  if (spec.audio) return spec;
  const auto length = audio_length(spec.input);
  if (!length || !*length) return spec;
  spec.audio = **length;
  spec.length = LengthSource::probed;
  return spec;
}

}  // namespace

void BatchSubmitter::DeferredWarning::add(const std::string& which) {
  if (++count_ == 1) first_ = which;
}

void BatchSubmitter::DeferredWarning::report(const char* what, const std::string& then) const {
  if (count_ > 0)
    log(Level::warning, std::string("Recordings that ") + what + ": " + std::to_string(count_) +
                            " (the first: " + first_ + "). " + then);
}

Result<void> BatchSubmitter::submit(const Clock& clock) {
  jobs_.jobs().expect(list_.size());
  for (std::size_t first = 0; first < list_.size();) {
    const auto specs = next_portion(first, clock);
    if (stopped_()) {
      jobs_.jobs().expect(0);
      return {};
    }
    if (auto submitted = submit(list_.subspan(first, specs.size()), specs); !submitted) return submitted;
    first += specs.size();
  }
  if (renewed_ > 0)
    log(Level::info, "Recordings that have changed since an earlier run, or are requested in another way: " +
                         std::to_string(renewed_) + ". They are done again");
  left_alone_.report("failed for good or were cancelled in an earlier run",
                     "They are left alone; " + field("retry_failed") + " does them again");
  overwritten_.report("overwrite what an earlier run wrote for another one",
                      "Another " + field("output_dir") + " keeps both");
  jobs_.queue().all_added();
  jobs_.reporter().accepted();
  return {};
}

std::vector<JobSpec> BatchSubmitter::next_portion(std::size_t first, const Clock& clock) const {
  const auto began = clock.now();
  std::vector<JobSpec> specs;
  for (const BatchJob& job : list_.subspan(first, std::min(kSubmitAtOnce, list_.size() - first))) {
    if (!specs.empty() && (stopped_() || clock.now() - began > kSubmitEvery)) break;
    specs.push_back(with_length(job.spec));
  }
  return specs;
}

Result<void> BatchSubmitter::submit(std::span<const BatchJob> portion, const std::vector<JobSpec>& specs) {
  auto answers = TRY(jobs_.output_space().retry_until_written({}, [&] { return run_.queue.submit(run_.id, specs); }));
  renewed_ += std::ranges::count(answers, Submitted::What::renewed, &Submitted::what);
  if (auto mended = reopen(answers, JobState::done); !mended) return mended;
  if (options_.retry_failed)
    for (const JobState state : {JobState::dead, JobState::cancelled})
      if (auto reopened = reopen(answers, state); !reopened) return reopened;
  std::vector<BatchEntry> requested;
  for (std::size_t i = 0; i < portion.size(); ++i) {
    leave_alone(answers[i], specs[i]);
    overwrite(answers[i], specs[i]);
    requested.push_back(entry_of(answers[i], portion[i], specs[i].audio));
    requested.back().left_staged = stuck_at(answers[i]);
  }
  jobs_.queue().add(requested);
  return {};
}

/// Where an earlier run has given it up.
void BatchSubmitter::leave_alone(const Submitted& answer, const JobSpec& spec) {
  if (answer.state != JobState::dead && answer.state != JobState::cancelled) return;
  left_alone_.add(spec.name);
}

/// Where an earlier run wrote the same outputs for another file, which is still there: not one that was only moved.
void BatchSubmitter::overwrite(const Submitted& answer, const JobSpec& spec) {
  std::error_code gone;
  if (answer.was.empty() || !std::filesystem::exists(answer.was, gone)) return;
  if (std::filesystem::equivalent(answer.was, spec.input, gone)) return;
  overwritten_.add(spec.key + ".*, of " + answer.was);
}

/// Why the outputs of a done job could not be put in place at the start.
std::string BatchSubmitter::stuck_at(const Submitted& job) const {
  const auto found = std::ranges::find(stuck_, job.id, &SweepReport::Stuck::job);
  return found == stuck_.end() || job.state != JobState::done ? std::string() : found->why.text();
}

/// Queues those of a state again, if they are to be: done ones whose outputs are gone, failed ones.
Result<void> BatchSubmitter::reopen(std::vector<Submitted>& answers, JobState state) {
  JobFilter filter;
  for (const auto& answer : answers) {
    if (answer.state == state) filter.ids.push_back(answer.id);
  }
  if (filter.ids.empty()) return {};
  const auto which = options_.existing == Existing::replace ? JobAdmin::Redo::missing_or_kept : JobAdmin::Redo::missing;
  const auto changed = TRY(state == JobState::done ? run_.admin.redo(filter, which) : run_.admin.retry(filter));
  if (changed == 0) return {};
  filter.states = {JobState::queued};
  const auto queued = TRY(run_.admin.jobs(filter, 0, filter.ids.size()));
  for (const auto& job : queued)
    for (auto& answer : answers)
      if (answer.id == job.id) std::tie(answer.state, answer.submitted) = std::tie(job.state, job.submitted);
  return {};
}

}  // namespace tutti
