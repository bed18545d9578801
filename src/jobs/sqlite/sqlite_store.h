#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "base/try.h"
#include "jobs/job_rules.h"
#include "jobs/open_store.h"
#include "jobs/sqlite/database.h"
#include "jobs/sqlite/group_commit.h"
#include "jobs/sqlite/owner_lock.h"
#include "jobs/store.h"

namespace tutti {

/// JobStore on a SQLite file: carries out the rules of jobs/job_rules.h. Every call is one transaction on one
/// connection (GroupCommit). sqlite_queue.cpp has the JobQueue, sqlite_admin.cpp JobAdmin and OutputRecords,
/// sqlite_history.cpp RunHistory.
class SqliteStore final : public JobStore {
 public:
  SqliteStore(Database database, OwnerLock owner, const StoreOptions& options)
      : commits_(std::move(database)), owner_(std::move(owner)), options_(options) {}

  /// Agrees with the file on what time it is; after a boot all leases are over. Call once, first.
  Result<void> set_time();

  StoreTime now() const override { return base_ + options_.clock->since_boot(); }

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
  /// Runs `work(database)` as one transaction and returns its value, or the error that undid it.
  template <class Work>
  auto transact(Work&& work) -> Result<std::invoke_result_t<Work, Database&>> {
    using Value = std::invoke_result_t<Work, Database&>;
    if constexpr (std::is_void_v<Value>) {
      return commits_.run(std::forward<Work>(work));
    } else {
      std::optional<Value> value;
      TRY(commits_.run([&](Database& database) { value.emplace(work(database)); }));
      return std::move(*value);
    }
  }

  Submitted submit_one(Database& database, RunId run, const JobSpec& spec, StoreTime time) const;
  void renew_version(Database& database, RunId run, JobId job, const RequestDecision& decision, StoreTime time) const;
  /// At most `most`, in the order of the request.
  std::vector<JobId> claimable(Database& database, const ClaimRequest& request, std::size_t most) const;
  Lease claim_one(Database& database, JobId job, const ClaimRequest& request, StoreTime time) const;
  /// What is held goes back as if it had not been claimed.
  void undo_attempt(Database& database, const LeaseKey& key, const std::string& reason) const;
  /// Ends the running attempt of a job whose lease is released or revoked.
  void end_attempt(Database& database, JobId job, AttemptEnd end, std::string_view failure, const std::string& error,
                   const AttemptUse& use) const;
  AfterFailure settle_failure(Database& database, const Job& job, FailureClass kind, AttemptEnd end,
                              const std::string& error, const AttemptUse& use) const;
  bool release(Database& database, JobId id, AttemptEnd end, const std::string& reason) const;
  bool reap_one(Database& database, JobId id, AttemptEnd end) const;

  GroupCommit commits_;
  OwnerLock owner_;
  StoreOptions options_;
  StoreTime base_{};  // time at which since_boot() was 0; set once, by set_time
};

/// The database's file in the store's folder.
inline constexpr const char* kSqliteFile = "tutti.sqlite";
/// Opens or creates a store in a folder.
Result<std::unique_ptr<JobStore>> open_sqlite_store(const StoreOptions& options);

}  // namespace tutti
