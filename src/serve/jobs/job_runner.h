#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "jobs/job_admin.h"
#include "jobs/lease_session.h"
#include "serve/jobs/job_callbacks.h"
#include "serve/jobs/job_events.h"
#include "serve/jobs/job_files.h"
#include "serve/openai/model_names.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/run.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// What the jobs of /v1/jobs need. Outlives them.
struct JobParts {
  SpeechService& service;
  JobQueue& queue;
  JobAdmin& admin;
  OutputRecords& records;
  const JobFiles& files;
  JobEvents& events;
  JobCallbacks& callbacks;
  const ModelNames& models;
  const SpeechOptions& usual;
};

/// Does the jobs of /v1/jobs: claims them from the store, the clients in turn, as many as the service takes at once,
/// and has them transcribed among its other requests. Its LeaseSession holds them. What it has claimed when the process
/// is killed is claimed again by the next. Thread-safe.
class JobRunner {
 public:
  explicit JobRunner(const JobParts& parts);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// A client (JobSpec::batch) has a job that may be claimed.
  void wake(const std::string& batch);
  /// A job that was cancelled in the store stops now, if it is in work here.
  void cancel(JobId job);
  /// Claims nothing more; what is in work goes on.
  void stop_claiming();
  /// The same, and no result waits for disk space any more. To be called before the service is stopped, which must be
  /// stopped before this goes: then no attempt is left.
  void abort();
  std::size_t in_work() const;
  /// The store has a job that is to be claimed now or later, or cannot be read.
  bool has_waiting() const;
  /// Why a job does not run, for people; empty: it does, or is over.
  std::string why_waits(const Job& job) const;
  /// Of the jobs that were done here.
  Seconds audio_done() const;

 private:
  class Attempt;
  struct State {
    std::map<JobId, std::shared_ptr<Attempt>> running{};
    std::deque<std::string> clients{};  // that may have a job to claim, the next one first
    std::uint64_t wakes = 0;
    Seconds audio_done{};
    bool claims = true;
    bool woken = true;
    bool over = false;
  };

  void work();
  std::optional<Lease> claim_next();
  std::optional<Lease> claim_of_a_client(JobClass most);
  void start(Lease lease);
  void fail(const LeaseKey& key, const Failure& failure);
  bool is_cancelled_in_store(JobId job) const;
  void settled(JobId job);
  void look_after_leases();
  void put_back_what_waits();
  void find_clients();
  /// Sends those who follow the jobs what has changed; `ending`: also the callbacks of those that have ended just now.
  void report(const std::vector<JobId>& jobs, bool ending = false);
  void call_back(const Job& job, const std::string& json);

  const JobParts parts_;
  DiskSpaceWait space_;
  LeaseSession leases_;
  Guarded<State> state_{};
  int beats_ = 0;  // the watching thread's
  std::jthread claiming_{};
  std::unique_ptr<PeriodicThread> watching_{};
};

}  // namespace tutti
