#include "runner/remote_run.h"

#include <chrono>
#include <utility>

#include "base/environment.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/periodic_thread.h"
#include "base/time_text.h"
#include "base/try.h"
#include "runner/s3_sink.h"
#include "runner/sqs_job_source.h"
#include "transcribe/batch/job_run.h"
#include "transcribe/pool/pool_plan.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kReportEvery{30};  // field note 001's heartbeat
constexpr int kRenewalsAVisibility = 3;
constexpr std::int64_t kLongestWait = 20;  // seconds: where a queue has none, each look would cost a request
constexpr double kUsualSeconds = 300;      // of a message whose sender gave none

/// The jobs of a runner: its source, its sink, and what both need, in the order in which they must go.
class RemoteJobs final : public JobSupply {
 public:
  RemoteJobs(const RunnerOptions& options, const RunnerAccess& access, const RunnerQueue& queue, DevicePool& pool)
      : options_(options),
        queue_(queue),
        settling_(access.credentials, access.location, [] { return true; }),
        callers_(access.credentials, access.location, [this] { return !aborted_; }),
        polls_(access.credentials, access.location, [this] { return !tally_.is_over(); }),
        held_(settling_, options.queue, queue.dead_letters, options.visibility),
        spool_({{temporary_folder(), "TMPDIR"}}, "recordings are fetched and decoded there", [] {}),
        objects_(settling_, options.bucket),
        parts_{.options = options_,
               .queue = queue_,
               .pool = pool,
               .polls = polls_,
               .callers = callers_,
               .settling = settling_,
               .held = held_,
               .attempts = attempts_,
               .tally = tally_,
               .objects = objects_,
               .spool = spool_},
        source_(parts_),
        sink_(parts_),
        renewing_(std::chrono::milliseconds(1000 * options.visibility / kRenewalsAVisibility),
                  [this] { held_.renew(); }),
        reporting_(kReportEvery, [this] { report("running"); }) {}

  JobSource& source() override { return source_; }
  ResultSink& sink() override { return sink_; }
  void serve(const ModelContext* model) override { source_.serve(model); }
  void stop_taking() override { tally_.end(RunnerTally::Over::stopped); }
  void hold_back(bool hold) override {
    tally_.change([&](RunnerTally::Numbers& numbers) { numbers.held_back = hold; });
  }
  void abort() override {
    aborted_ = true;
    spool_.close();
  }
  RunSnapshot snapshot() const override {
    RunSnapshot snapshot = tally_.snapshot();
    for (const auto& attempt : attempts_.all()) snapshot.in_work.push_back(attempt->status());
    snapshot.held_up = spool_.why();
    return snapshot;
  }

  /// What the runner is doing, for those who look at the bucket.
  void report(const std::string& state);
  /// The run ends: whatever is still held goes back.
  void release() { held_.release_all(); }
  RunnerTally& tally() { return tally_; }

 private:
  const RunnerOptions& options_;
  const RunnerQueue& queue_;
  std::atomic<bool> aborted_{false};
  RunnerTally tally_{};
  CallerPool settling_;  // works until the end: for what must be done however the run ends
  CallerPool callers_;
  CallerPool polls_;
  HeldMessages held_;
  RemoteAttempts attempts_{};
  DiskSpaceWait spool_;
  ObjectWriter objects_;
  const RunnerParts parts_;
  SqsJobSource source_;
  S3Sink sink_;
  const std::string host_ = host_name();
  const std::string started_ = utc_text(std::chrono::system_clock::now());
  PeriodicThread renewing_;
  PeriodicThread reporting_;
};

void RemoteJobs::report(const std::string& state) {
  using Json = nlohmann::ordered_json;
  const auto numbers = tally_.now();
  const std::string now = utc_text(std::chrono::system_clock::now());
  Json jobs = Json::array(), devices = Json::array();
  for (const auto& attempt : attempts_.all()) jobs.push_back(attempt->message.job_id);
  for (const ChosenDevice& chosen : options_.devices)
    devices.push_back(chosen.device.name.empty() ? chosen.label : chosen.device.name);
  objects_.put("workers/" + options_.worker_id + "/status.json",
               json_line(Json{{"schema_version", kStatusVersion},
                              {"worker_id", options_.worker_id},
                              {"status", state},
                              {"host", host_},
                              {"started_at", started_},
                              {"last_heartbeat", now},
                              {"model", options_.model_name},
                              {"devices", devices},
                              {"current_jobs", jobs},
                              {"jobs_processed", numbers.done},
                              {"jobs_failed", numbers.failed},
                              {"jobs_retried", numbers.retried},
                              {"jobs_released", numbers.released},
                              {"audio_seconds", numbers.audio.count()}}));
  const auto facts = settling_.with_sqs([&](SqsClient& sqs) { return sqs.facts(options_.queue); });
  if (!facts) return log(Level::warning, "the queue's numbers could not be read: " + facts.error().text());
  const auto pending = facts->waiting + facts->in_flight + facts->delayed;
  const double each =
      numbers.received > 0 ? numbers.estimated.count() / static_cast<double>(numbers.received) : kUsualSeconds;
  objects_.put("queue-stats.json", json_line(Json{{"schema_version", kStatusVersion},
                                                  {"total_minutes_pending", static_cast<double>(pending) * each / 60},
                                                  {"job_count", pending},
                                                  {"last_updated", now}}));
}

/// For `tutti top`.
class RemoteControl final : public BatchControl {
 public:
  RemoteControl(JobRun& run, RemoteJobs& jobs, const RunnerOptions& options)
      : run_(run), jobs_(jobs), options_(options) {}

  FleetStatus status(const PoolView* at) override { return run_.status(jobs_.snapshot(), at); }
  /// A run that is drained releases what is not begun, and ends.
  bool drain(const std::string& device) override {
    if (!device.empty()) return run_.pool().drain(device_id(options_.devices, device));
    jobs_.stop_taking();
    return true;
  }
  bool resume(const std::string& device) override {
    return !device.empty() && run_.pool().resume(device_id(options_.devices, device));
  }
  Result<void> cancel(std::int64_t job) override {
    return fail(Fault::missing, "job " + std::to_string(job) + ": the jobs of a queue are not cancelled here",
                "Delete its message, or let it end");
  }

 private:
  JobRun& run_;
  RemoteJobs& jobs_;
  const RunnerOptions& options_;
};

}  // namespace

Result<RunnerQueue> check_queue_and_bucket(const RunnerOptions& options, const RunnerAccess& access, StopSignal& stop) {
  CallerPool callers(access.credentials, access.location, [&stop] { return !stop.raised(); });
  const auto facts = TRY(callers.with_sqs([&](SqsClient& sqs) { return sqs.facts(options.queue); }));
  if (facts.dead_letters_arn.empty())
    return fail(Fault::refused,
                "queue " + options.queue.name + ": it has no dead letters, and what fails for good would come again",
                "Make a queue with them: tutti queue create NAME");
  const std::string name = facts.dead_letters_arn.substr(facts.dead_letters_arn.rfind(':') + 1);
  auto dead_letters = TRY(callers.with_sqs([&](SqsClient& sqs) { return sqs.find(name); }));
  TRY(callers.with_s3([&](S3Client& s3) { return s3.check_bucket(options.bucket); }));
  return RunnerQueue{.dead_letters = std::move(dead_letters),
                     .wait_seconds = facts.settings.wait_seconds > 0 ? facts.settings.wait_seconds : kLongestWait,
                     .most_receives = facts.settings.most_receives};
}

Result<RunnerReport> run_remote(const RunnerOptions& options, const RunnerAccess& access, const RunnerQueue& queue,
                                RunHistory& history, StopSignal& stop,
                                const std::function<void(BatchControl*)>& with_control) {
  auto plan = TRY(plan_pool(options, history));
  JobRun run(options, std::move(plan), history, stop);
  TRY(run.begin());
  RemoteJobs jobs(options, access, queue, run.pool());
  jobs.report("running");
  RemoteControl control(run, jobs, options);
  with_control(&control);
  const auto worked = [&]() -> Result<void> {
    // No message is received before a device computes: SQS counts receives, and machines that cannot work would make
    // dead letters of good jobs.
    stop.on_raise([&run] { run.pool().stop(Seconds(0)); });
    const auto ready = run.pool().ready();
    stop.on_raise({});
    if (!ready && ready.error().fault != Fault::cancelled) return tl::unexpected(ready.error());
    return run.work(jobs, 0);
  }();
  with_control(nullptr);
  run.pool().stop(Seconds(0));
  jobs.release();
  jobs.report("stopped");
  RunnerReport report{.run = run.end(jobs.snapshot()), .numbers = jobs.tally().now()};
  if (!worked && report.numbers.done == 0) return tl::unexpected(worked.error());
  if (!worked) report.run.ended_early = worked.error().text();
  if (report.numbers.why) report.run.ended_early = report.numbers.why->text();
  return report;
}

}  // namespace tutti
