#include "transcribe/batch/batch_run.h"

#include <bit>
#include <cstdint>
#include <thread>

#include "base/log.h"
#include "base/periodic_thread.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"
#include "transcribe/batch/batch_jobs.h"
#include "transcribe/batch/batch_status.h"
#include "transcribe/batch/batch_submitter.h"
#include "transcribe/batch/job_run.h"
#include "transcribe/pool/pool_plan.h"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kLookTick{250};
constexpr std::uint32_t kLookTicks = kLookAfterLeasesEvery / kLookTick;

/// A batch while it runs: a JobRun over a store and a folder. Its parts are in the order in which they must go.
class Batch final : public BatchControl {
 public:
  Batch(const BatchOptions& options, std::unique_ptr<JobStore> store, PoolPlan plan, BatchObserver& observer,
        StopSignal& stop)
      : options_(options),
        stop_(stop),
        store_(std::move(store)),
        run_(options, std::move(plan), *store_, stop),
        jobs_(options, *store_, run_.pool(), observer) {}

  Result<BatchReport> go(std::span<const BatchJob> list, std::vector<SweepReport::Stuck> stuck,
                         const std::function<void(BatchControl*)>& with_control) {
    const auto started = run_.begin();
    if (!started) return tl::unexpected(started.error());
    BatchSubmitter submitter(list, options_, {*store_, *store_, *started}, jobs_, std::move(stuck),
                             [this] { return stop_.raised(); });
    const PeriodicThread keeping(kLookTick, [this] { look_after_leases(); });
    with_control(this);
    auto worked = work(submitter, list.size());
    with_control(nullptr);
    run_.pool().stop(Seconds(0));
    jobs_.release("the run ended");
    auto report = run_.end(jobs_.snapshot());
    add_assets(report, *store_, jobs_.jobs().take_entries());
    if (!worked && report.done_now == 0) return tl::unexpected(worked.error());
    if (!worked) report.ended_early = worked.error().text();
    return report;
  }

  FleetStatus status(const PoolView* at) override {
    std::error_code unknown;  // error for a current folder that is gone: then there is no path to report
    FleetStatus status = run_.status(jobs_.snapshot(), at);
    status.state_folder = std::filesystem::absolute(options_.state, unknown).string();
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
    const bool is_soon = look_tick_ < kLookTicks && std::has_single_bit(look_tick_);
    if (is_soon || look_tick_ % kLookTicks == 0) jobs_.leases().look_after();
  }

  /// Adds the list to the store and works on it meanwhile.
  Result<void> work(BatchSubmitter& submitter, std::size_t jobs) {
    Result<void> submitted;
    auto worked = [&] {
      const std::jthread submitting([&] {
        submitted = submitter.submit();
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

}  // namespace

Result<BatchReport> run_batch(std::span<const BatchJob> jobs, const BatchOptions& options, BatchObserver& observer,
                              StopSignal& stop, const std::function<void(BatchControl*)>& with_control) {
  auto store = open_store({.url = options.state});
  if (!store) return tl::unexpected(store.error());
  const std::filesystem::path staging[] = {options.staging, options.kept};
  auto swept = sweep_outputs(**store, staging, options.existing);
  if (!swept) return tl::unexpected(swept.error());
  for (const auto& stuck : swept->stuck) log(Level::warning, stuck.why.text());
  for (const auto& kept : swept->kept) log(Level::warning, kept_text(kept));
  auto plan = plan_pool(options, **store);
  if (!plan) return tl::unexpected(plan.error());
  auto report = Batch(options, std::move(*store), std::move(*plan), observer, stop)
                    .go(jobs, std::move(swept->stuck), with_control);
  for (const auto& folder : staging) leave_staging(folder);
  return report;
}

}  // namespace tutti
