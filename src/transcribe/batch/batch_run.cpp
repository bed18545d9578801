#include "transcribe/batch/batch_run.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/periodic_thread.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/batch/batch_status.h"
#include "transcribe/batch/batch_submitter.h"
#include "transcribe/batch/job_run.h"
#include "transcribe/batch/store_follower.h"
#include "transcribe/done_command.h"
#include "transcribe/pool/pool_plan.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kLookTick{250};
constexpr std::size_t kJobsExpected = 500;  // of a store that is followed: enough for every device
constexpr int kLooksALease = kLeaseLength / kLookAfterLeasesEvery;

/// A batch while it runs: a JobRun over a store and a folder. Its parts are in the order in which they must go.
class Batch final : public BatchControl {
 public:
  using Submit = std::function<Result<void>(const StoredRun& run, BatchJobs& jobs)>;

  Batch(const BatchOptions& options, std::unique_ptr<JobStore> store, PoolPlan plan, BatchObserver& observer,
        StopSignal& stop)
      : options_(options),
        stop_(stop),
        store_(std::move(store)),
        run_(options, std::move(plan), *store_, stop),
        jobs_(options, *store_, run_.pool(), observer) {}

  /// `submit` has the jobs entered, by a thread of its own. `jobs`: how many they are; 0: not known.
  Result<BatchReport> go(const Submit& submit, std::size_t jobs,
                         const std::function<void(BatchControl*)>& with_control) {
    const StoreTime since = store_->now();
    const auto started = TRY(run_.begin());
    const PeriodicThread keeping(kLookTick, [this] { look_after_leases(); });
    with_control(this);
    auto worked = work([&] { return submit({*store_, *store_, started}, jobs_); }, jobs);
    with_control(nullptr);
    run_.pool().stop(Seconds(0));
    jobs_.release("the run ended");
    auto report = run_.end(jobs_.snapshot());
    if (options_.server) report.runners = other_runners(*store_, started, since, store_->now());
    add_assets(report, *store_, jobs_.jobs().take_entries());
    if (!worked && report.done_now == 0) return tl::unexpected(worked.error());
    if (!worked) report.ended_early = worked.error().text();
    return report;
  }

  FleetStatus status(const PoolView* at) override {
    std::error_code unknown;  // error for a current folder that is gone: then there is no path to report
    FleetStatus status = run_.status(jobs_.snapshot(), at);
    if (!options_.server) status.state_folder = std::filesystem::absolute(options_.state, unknown).string();
    return status;
  }
  bool drain(const std::string& device) override {
    if (!device.empty()) return run_.pool().drain(device_id(options_.devices, device));
    jobs_.queue().set_hold(RunHold::paused, true);
    return true;
  }
  bool resume(const std::string& device) override {
    if (!device.empty()) return run_.pool().resume(device_id(options_.devices, device));
    return jobs_.queue().set_hold(RunHold::paused, false);
  }
  Result<void> cancel(std::int64_t job) override { return jobs_.cancel(job); }

 private:
  /// A process that is killed as this one begins is gone a moment later: what it held is looked at again soon.
  void look_after_leases() {
    ++look_tick_;
    const auto ticks =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(options_.lease / kLooksALease / kLookTick));
    const bool is_soon = look_tick_ < ticks && std::has_single_bit(look_tick_);
    if (is_soon || look_tick_ % ticks == 0) jobs_.leases().look_after();
    jobs_.release_idle();
  }

  /// Has the jobs entered, and works on them meanwhile.
  Result<void> work(const std::function<Result<void>()>& submit, std::size_t jobs) {
    Result<void> submitted;
    auto worked = [&] {
      const std::jthread submitting([&] {
        submitted = submit();
        if (!submitted) jobs_.stop_taking();
        if (!submitted) jobs_.queue().all_added();
      });
      return run_.work(jobs_, jobs);
    }();
    return submitted ? std::move(worked) : submitted;
  }

  const BatchOptions& options_;
  StopSignal& stop_;
  std::uint32_t look_tick_ = 0;  // the thread's that looks after leases
  std::unique_ptr<JobStore> store_;
  JobRun run_;
  BatchJobs jobs_;
};

/// Opens the store, repairs what killed processes left, and runs a batch over it. `submit` gets what could not be
/// repaired.
Result<BatchReport> run_over_store(
    const BatchOptions& options, std::size_t jobs, BatchObserver& observer, StopSignal& stop,
    const std::function<void(BatchControl*)>& with_control,
    const std::function<Result<void>(const StoredRun&, BatchJobs&, std::vector<SweepReport::Stuck>)>& submit) {
  auto store = TRY(open_store({.url = options.store(), .objects = options.objects}));
  const std::filesystem::path staging[] = {options.staging, options.kept};
  auto swept = TRY(sweep_outputs(*store, staging, options.existing));
  for (const auto& stuck : swept.stuck) log(Level::warning, stuck.why.text());
  for (const auto& kept : swept.kept) log(Level::warning, kept_text(kept));
  auto plan = TRY(plan_pool(options, *store));
  auto report =
      Batch(options, std::move(store), std::move(plan), observer, stop)
          .go([&](const StoredRun& run, BatchJobs& parts) { return submit(run, parts, std::move(swept.stuck)); }, jobs,
              with_control);
  for (const auto& folder : staging) leave_staging(folder);
  if (report && options.on_done) report->summary.failed_commands = options.on_done->failures();
  return report;
}

}  // namespace

Result<BatchReport> run_batch(std::span<const BatchJob> jobs, const BatchOptions& options, BatchObserver& observer,
                              StopSignal& stop, const std::function<void(BatchControl*)>& with_control) {
  return run_over_store(
      options, jobs.size(), observer, stop, with_control,
      [&](const StoredRun& run, BatchJobs& parts, std::vector<SweepReport::Stuck> stuck) {
        return BatchSubmitter(jobs, options, run, parts, std::move(stuck), [&] { return stop.raised(); }).submit();
      });
}

Result<BatchReport> follow_store(const FollowOptions& follow, const BatchOptions& options, BatchObserver& observer,
                                 StopSignal& stop, const std::function<void(BatchControl*)>& with_control) {
  std::optional<StoreFollower> follower;  // outlives the run, which knows jobs by what it has
  return run_over_store(options, kJobsExpected, observer, stop, with_control,
                        [&](const StoredRun& run, BatchJobs& parts, const std::vector<SweepReport::Stuck>&) {
                          const auto stopped = [&] { return stop.raised() || parts.queue().is_over(); };
                          return follower.emplace(follow, run, parts, options.objects.get(), stopped).follow();
                        });
}

}  // namespace tutti
