#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "jobs/history.h"
#include "jobs/job.h"
#include "jobs/job_admin.h"
#include "jobs/job_queue.h"
#include "jobs/lease.h"
#include "jobs/object_outputs.h"

namespace tutti {

/// The part of a store that knows which outputs jobs made and where they are; jobs/publish.h puts them
/// in place by it.
class OutputRecords {
 public:
  virtual ~OutputRecords() = default;

  /// The outputs of a done job; none for others.
  virtual Result<std::vector<JobOutput>> outputs(JobId job) = 0;

  /// Outputs of done jobs that are not known to be in place.
  struct Unpublished {
    JobId job = 0;
    std::vector<JobOutput> outputs{};
  };
  virtual Result<std::vector<Unpublished>> unpublished() = 0;
  /// All of a done job's outputs are in place: those that it still has recorded `staged` among.
  virtual Result<void> mark_published(JobId job, const std::string& staged) = 0;
  /// All that this job has ever recorded as its outputs, whatever became of it: a file with other content is not the
  /// job's. What stores of earlier versions recorded is not known.
  virtual Result<std::vector<KnownContent>> written(JobId job) = 0;
  /// Records what is about to be written for a job, or, with 0, for none; `written` returns it from then on.
  virtual Result<void> record_written(JobId job, const KnownContent& content) = 0;
  /// Records where a done job's output, known by `staged`, is from now on, and what is in it. Before it is put there;
  /// where its content changes, behind that, and `record_written` before.
  virtual Result<void> move_output(JobId job, const JobOutput& output) = 0;
  /// What this store knows of the attempt that a temporary file belongs to: nothing, or whether it is still at work.
  enum class StagedBy { other, at_work, over };
  virtual Result<StagedBy> staged_by(const LeaseKey& key) = 0;

  /// By which outputs that are objects of buckets are reached. Null: only files are.
  ObjectOutputs* objects() const { return objects_.get(); }
  void reach_objects(std::shared_ptr<ObjectOutputs> objects) { objects_ = std::move(objects); }

 private:
  std::shared_ptr<ObjectOutputs> objects_{};
};

/// The durable record of all work: jobs, attempts, results, device speeds, history. Every call is one transaction that
/// is on disk when it returns; a process killed between two calls leaves a store that the next one goes on from. Any
/// number of threads and processes. Times are the store's own. Errors: Fault::full when the disk is full,
/// Fault::unavailable when it fails or another process holds the store, Fault::corrupt when the store is damaged,
/// Fault::internal otherwise; a failed call has changed nothing.
///
/// Its four parts:
/// * JobQueue: jobs are submitted, claimed, renewed and ended.
/// * JobAdmin: jobs are steered and looked at.
/// * OutputRecords: what jobs wrote, and where.
/// * RunHistory: runs, speeds of devices, device events.
///
/// Code takes the one part that it needs; the whole is for who opens a store, and for what needs several parts.
class JobStore : public JobQueue, public JobAdmin, public OutputRecords, public RunHistory {};

}  // namespace tutti
