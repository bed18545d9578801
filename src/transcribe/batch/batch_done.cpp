#include "transcribe/batch/batch_done.h"

#include <unordered_map>

#include "base/try.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"

namespace tutti {
namespace {

constexpr std::size_t kJobsAtOnce = 1000;

using JobsByKey = std::unordered_map<std::string, Job>;

/// Those of a batch that are done, by JobSpec::key.
Result<JobsByKey> done_jobs(JobAdmin& admin, const std::string& batch) {
  JobsByKey done;
  const JobFilter filter{.batch = batch, .states = {JobState::done}};
  for (JobId last = 0;;) {
    auto some = TRY(admin.jobs(filter, last, kJobsAtOnce));
    if (some.empty()) return done;
    last = some.back().id;
    for (Job& job : some) done.emplace(job.spec.key, std::move(job));
  }
}

bool is_in_place(OutputRecords& records, JobId job, Existing existing) {
  const auto outputs = records.outputs(job);
  return outputs && !outputs->empty() && outputs_are_there(*outputs, existing, records.objects());
}

/// As it was done, called what it is called now.
BatchAsset asset_of(const Job& done, const JobSpec& requested) {
  return {.uuid = requested.uuid,
          .name = requested.name,
          .status = std::string(name_of(JobState::done)),
          .device = done.device,
          .attempts = done.attempts,
          .audio = done.spec.audio.value_or(Seconds(0)),
          .extra = requested.extra};
}

}  // namespace

std::optional<BatchReport> report_if_all_done(std::span<const BatchJob> jobs, const BatchOptions& options) {
  const auto store = open_store_if_there(options.store(), options.objects);
  if (!store || !*store) return {};
  const std::filesystem::path staging[] = {options.staging, options.kept};
  if (!sweep_outputs(**store, staging, options.existing)) return {};
  for (const auto& folder : staging) leave_staging(folder);
  const auto done = done_jobs(**store, options.batch);
  if (!done) return {};
  BatchReport report;
  report.started = report.ended = std::chrono::system_clock::now();
  for (const BatchJob& job : jobs) {
    const auto known = done->find(job.spec.key);
    if (known == done->end() || !is_same_work(known->second.spec, job.spec)) return {};
    if (!is_in_place(**store, known->second.id, options.existing)) return {};
    report.counts.add(JobState::done);
    report.assets.push_back(asset_of(known->second, job.spec));
  }
  report.before = report.counts;
  return report;
}

}  // namespace tutti
