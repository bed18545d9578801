#include "transcribe/batch/batch_jobs.h"

#include "base/try.h"

namespace tutti {
namespace {

/// The folder whose disk outputs need; empty: they need none.
std::filesystem::path disk_of_outputs(const BatchOptions& options) {
  return is_object(options.staging) ? std::filesystem::path() : options.staging.parent_path();
}

}  // namespace

BatchJobs::BatchJobs(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer)
    : admin_(store),
      spaces_(disk_of_outputs(options), options.state, [this] { queue_.space_changed(); }),
      began_(store.now()),
      queue_(options, began_, jobs_, spaces_, pool),
      attempts_(queue_),
      leases_(
          store, store,
          [this](Bytes needed, const auto& write) { return spaces_.output.retry_until_written(needed, write); },
          options.lease),
      parts_{.options = options,
             .began = began_,
             .pool = pool,
             .spaces = spaces_,
             .jobs = jobs_,
             .queue = queue_,
             .attempts = attempts_,
             .leases = leases_},
      reporter_(parts_, store, observer),
      publisher_(parts_, store, reporter_),
      source_(parts_, store, reporter_, publisher_) {}

void BatchJobs::abort() {
  source_.abort();
  spaces_.close();
  publisher_.abort();
  if (parts_.options.objects) parts_.options.objects->close();
}

RunSnapshot BatchJobs::snapshot() const {
  RunSnapshot snapshot = jobs_.snapshot(attempts_.in_work());
  snapshot.held_up = spaces_.held_up();
  return snapshot;
}

Result<void> BatchJobs::cancel(JobId job) {
  const auto changed = TRY(jobs_.contains(job) ? admin_.cancel({.ids = {job}}) : Result<std::size_t>(0));
  if (changed == 0) return fail(Fault::missing, "no job " + std::to_string(job) + " of this run waits or is in work");
  leases_.renew();
  return {};
}

void BatchJobs::release(const std::string& reason) {
  publisher_.publish_all_left();
  source_.release_all();
  attempts_.settle_all();
  leases_.release_all(reason);
}

}  // namespace tutti
