#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "jobs/publish.h"
#include "jobs/store.h"
#include "transcribe/batch/batch_attempt.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_tally.h"
#include "transcribe/batch/work_order.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/run_stages.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The jobs of a batch as files of a run. Claims them in order, has their windows served by the pool, publishes each
/// result once, and records in the store what became of every attempt. Thread-safe.
class BatchFiles final : public JobSource {
 public:
  BatchFiles(const BatchOptions& options, JobStore& store, DevicePool& pool, BatchObserver& observer);

  // --- for the caller that runs the batch
  /// This many jobs of the run are still to be added; until they are, they are counted all the same.
  void expect(std::size_t jobs);
  /// Adds jobs of this run. None is claimed before all of these are there, so that the first is the one whose turn it
  /// is.
  void add(std::span<const RequestedJob> jobs);
  void all_added();
  /// Reports to the observer what there is to do: all that was added.
  void tell_work();
  /// The model is there, or (null) none will be.
  void serve(const ModelContext* model);
  void set_progress(const OnProgressOfFile& on_progress) { on_progress_ = &on_progress; }
  /// No job is claimed any more.
  void stop_taking();
  /// No job is claimed until `go_on`; once nothing is in work either, it is as after `stop_taking`.
  void pause();
  /// False: it is too late, no other job is going to be claimed.
  bool go_on();
  /// Cancels the reading of recordings and ends every wait for full disks.
  void abort();
  /// Where it writes; also for other writers to the store.
  DiskSpaceWait& output_space() const { return output_space_; }
  /// Which full disk or folder is waited for, for people; empty: none.
  std::string held_up() const;
  /// No job is claimed beside what is in work, as long as that holds.
  void hold_back(bool hold);
  /// Renews the leases of all attempts; those that are lost or to be cancelled end.
  void renew();
  /// Takes back the leases of others that have ended or hang; our own are renewed before.
  void reap();
  /// The run ends: releases what is still held, and tries once more to put in place what could not be.
  void release(const std::string& reason);
  /// Fault::missing: it is none of this run's, or has ended.
  Result<void> cancel(JobId id);

  BatchCounts counts() const;
  BatchCounts before() const;  ///< of these, what had ended when the run began
  BatchDone done() const;
  BatchProgress progress() const;
  /// A job as this run knows it now; an empty one where it is none of this run's.
  BatchEntry entry(JobId job) const;
  /// All jobs of this run, the least id first.
  std::vector<JobId> ids() const;
  std::vector<AttemptStatus> in_work() const;
  /// Those of this run that failed for good, the latest first, at most a screenful.
  std::vector<JobFailure> failures() const;

  // --- the stages
  std::optional<ClaimedFile> next() override;
  Result<void> begin(std::size_t index) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t index) override;
  Result<void> publish(TranscribedFile& file) override;
  void failed(std::size_t index, const Error& error) override;
  void reached(std::size_t index, Seconds position);

 private:
  static constexpr Seconds kLookAgain{1};  // at a job that another process holds

  using Lock = std::unique_lock<std::mutex>;
  using Entry = BatchEntry;

  BatchAttempt& at(std::size_t index) const;
  void add(const Lock& held, const RequestedJob& requested);
  PoolJob pool_job(JobId id, const Entry& entry) const;
  bool may_take(const Lock& held) const;
  void tell_remarks(const BatchAttempt& attempt, const Recording& recording);
  void space_changed();
  void tell_held_back(const Lock& held);
  BatchObserver::Action request_decision(const BatchEnd& over, const Error& error);
  std::optional<JobId> wait_for_job();
  std::optional<ClaimedFile> claim(JobId id);
  std::optional<ClaimedFile> begin_attempt(JobId id, Lease lease);
  std::size_t free_worker(const Lock& held) const;
  std::size_t number_of(const Lock& held, Entry& entry);
  void report_starts();
  void report_starts(const Lock& telling);
  void report_starts_before_end(const Lock& telling, JobId id);
  std::optional<BatchStart> start_of(FirstGrant first);
  bool is_over() const;
  void not_claimable(JobId id);
  /// The store has another version of it by now: another process requested the same outputs in another way.
  bool is_superseded(JobId id, const JobSpec& stored) const;
  void superseded(JobId id);
  bool settle(BatchAttempt& attempt);
  bool settle(const Lock& held, BatchAttempt& attempt);
  bool take_away(BatchAttempt& attempt);
  bool is_cancelled(const LeaseKey& key);
  void give_back(const LeaseKey& key, const std::string& reason);
  void end(JobId id, std::size_t BatchCounts::*how);
  void stop_pool_when_all_ended();
  void again(JobId id, Seconds wait);
  Result<void> publish_contents(BatchAttempt& attempt, const std::vector<OutputContent>& contents,
                                const JobEngine::Use& use, bool copied);
  void keep(KeptResult result);
  void publish_kept(bool last_time);
  void publish_left_staged();
  void finish(BatchAttempt& attempt, const JobEngine::Use& use, bool copied, std::vector<KeptFile> kept_files);
  void leave_staged(BatchAttempt& attempt, const Error& error, const JobEngine::Use& use, bool copied);
  void tell_failure(BatchAttempt& attempt, const Error& error, const std::string& device);
  BatchEnd end_of(const BatchAttempt& attempt, const std::string& device) const;

  const BatchOptions& options_;
  JobStore& store_;
  DevicePool& pool_;
  BatchObserver& observer_;
  mutable DiskSpaceWait output_space_;  // for results
  DiskSpaceWait spool_space_;           // for decoded audio
  const StoreTime began_;               // this run, by the store's clock
  const OnProgressOfFile* on_progress_ = nullptr;
  std::mutex telling_;  // the observer is called under it, so that events do not overtake one another

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  WorkOrder order_;
  std::map<JobId, Entry> entries_;
  mutable std::deque<BatchAttempt> attempts_;
  std::optional<const ModelContext*> model_{};
  BatchTally tally_{};
  BatchWork work_{};  // not reported to the observer yet
  std::deque<JobFailure> failures_{};
  std::set<std::size_t> in_flight_;  // attempts that have not settled
  std::vector<KeptResult> kept_;
  Clock::Instant retry_kept_at_{};  // try those again
  bool all_added_ = false;
  bool over_ = false;    // no job is claimed any more
  bool paused_ = false;  // … until the run is resumed
  bool held_back_ = false;
  bool asking_ = false;                  // what to do about a failure
  std::optional<Idle> reported_hold_{};  // what the pool believes
  std::atomic<bool> aborted_{false};
};

}  // namespace tutti
