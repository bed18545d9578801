#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "jobs/job_rules.h"
#include "jobs/open_store.h"
#include "jobs/postgres/transactions.h"
#include "jobs/store.h"

namespace tutti {

/// JobStore on a PostgreSQL server: carries out the rules of jobs/job_rules.h for the processes of many machines. Times
/// are the server's. A job that is queued, running or held is in the partition tutti_jobs_hot, one that has ended in
/// that of its month. postgres_submit.cpp and postgres_queue.cpp have the JobQueue, postgres_admin.cpp JobAdmin,
/// postgres_records.cpp OutputRecords and RunHistory.
class PostgresStore final : public JobStore {
 public:
  /// `first` is a connection to the store of `options`.
  PostgresStore(postgres::Connection first, const StoreOptions& options);
  ~PostgresStore() override;
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  /// Agrees with the server on what time it is. Call once, first.
  Result<void> begin();

  StoreTime now() const override { return transactions_.now(); }

  Result<RunId> begin_run(const RunStart& start) override;
  Result<void> end_run(RunId run, const RunEnd& end) override;
  Result<std::vector<Submitted>> submit(RunId run, std::span<const JobSpec> specs) override;
  Result<void> set_length(const LeaseKey& key, Seconds audio, LengthSource source) override;

  using JobQueue::claim;
  Result<std::vector<Lease>> claim(const ClaimRequest& request, std::size_t most) override;
  Result<std::vector<LeaseStanding>> renew(std::span<const Renewal> renewals) override;
  Result<ContentCheck> content_known(const LeaseKey& key, const std::string& sha256) override;
  Result<bool> complete(const LeaseKey& key, std::span<const JobOutput> outputs, const AttemptUse& use) override;
  Result<AfterFailure> fail(const LeaseKey& key, const Failure& failure) override;
  Result<bool> release(const LeaseKey& key, const std::string& reason) override;
  Result<bool> undo_claim(const LeaseKey& key) override;
  Result<bool> cancelled(const LeaseKey& key) override;
  Result<std::size_t> reap() override;

  Result<std::size_t> cancel(const JobFilter& filter) override;
  Result<std::size_t> hold(const JobFilter& filter) override;
  Result<std::size_t> resume(const JobFilter& filter) override;
  Result<std::size_t> retry(const JobFilter& filter) override;
  Result<std::size_t> forget(const JobFilter& filter) override;
  using JobAdmin::redo;
  Result<std::size_t> redo(const JobFilter& filter, Redo which) override;

  Result<JobCounts> counts(const JobFilter& filter) override;
  Result<std::vector<Job>> jobs(const JobFilter& filter, JobId after, std::size_t limit) override;
  Result<std::vector<Job>> latest_jobs(const JobFilter& filter, const std::string& name, JobId before,
                                       std::size_t limit) override;
  Result<std::vector<ClassCount>> open_by_class() override;
  Result<std::vector<EndedJobs>> ended_since(StoreTime since) override;
  Result<std::vector<Attempt>> attempts(JobId job) override;
  Result<std::optional<Job>> find(const std::string& key) override;
  Result<std::vector<std::string>> waiting_batches(std::string prefix) override;
  Result<std::vector<JobOutput>> outputs(JobId job) override;

  Result<std::vector<Unpublished>> unpublished() override;
  Result<void> mark_published(JobId job, const std::string& staged) override;
  Result<std::vector<KnownContent>> written(JobId job) override;
  Result<void> record_written(JobId job, const KnownContent& content) override;
  Result<void> move_output(JobId job, const JobOutput& output) override;
  Result<StagedBy> staged_by(const LeaseKey& key) override;

  Result<void> record_speed(const SpeedRecord& speed) override;
  Result<std::vector<SpeedRecord>> speeds(bool all) override;
  Result<void> record_event(const DeviceEvent& event) override;
  Result<std::vector<DeviceEvent>> events(StoreTime since) override;
  Result<std::vector<RunRecord>> runs(std::size_t limit) override;
  Result<void> report_run(RunId run, const std::string& status) override;
  Result<std::vector<RunRecord>> runs_seen(StoreTime since) override;

 private:
  /// Makes partitions for this month and the next one where they are missing.
  void ensure_months(postgres::Transaction& transaction);
  /// The partition of a job that ends now.
  int ending_month(postgres::Transaction& transaction);
  AfterFailure settle_failure(postgres::Transaction& transaction, const Job& job, FailureClass kind, AttemptEnd end,
                              const std::string& error, const AttemptUse& use);
  void release(postgres::Transaction& transaction, const Job& job, AttemptEnd end, const std::string& reason);
  /// Where the server's clock was set back: so are the times that were recorded before, or leases and pauses would last
  /// for longer by as much.
  static void follow_clock(postgres::Transaction& transaction);
  /// What is held goes back as if it had not been claimed.
  void undo_attempt(postgres::Transaction& transaction, const Job& job, const LeaseKey& key, const std::string& reason);
  /// Records that this process was active now.
  void beat(postgres::Transaction& transaction) const;

  postgres::Transactions transactions_;
  const RetryRules retries_;
  const std::string owner_;                  // of the claims of this process
  std::atomic<bool> is_registered_ = false;  // as an owner, with its first claim
  std::atomic<int> ensured_ = 0;             // the last month that is known to have a partition
};

/// Opens a store on a server; where there is none yet, makes one or returns null.
Result<std::unique_ptr<JobStore>> open_postgres_store(const StoreOptions& options, bool make);

}  // namespace tutti
