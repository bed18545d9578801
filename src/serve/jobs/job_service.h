#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/periodic_thread.h"
#include "jobs/store.h"
#include "serve/http/form.h"
#include "serve/http/http.h"
#include "serve/jobs/job_callbacks.h"
#include "serve/jobs/job_events.h"
#include "serve/jobs/job_files.h"
#include "serve/jobs/job_json.h"
#include "serve/jobs/job_request.h"
#include "serve/jobs/job_runner.h"
#include "serve/openai/model_names.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

struct JobServiceOptions {
  JobFilesOptions files{};
  ModelNames models;
  SpeechOptions usual{};              // options of jobs that have no field for them
  std::size_t most_a_client = 10000;  // jobs of a client that have not ended; more are refused for a while
  std::optional<Seconds> keep{};      // a job is removed so long after its end, with its files; none: never
  RunStart run{};                     // for history
};

/// A job as a client hands it in.
struct JobSubmission {
  std::string client{};           // the fingerprint of its token: its jobs are its own
  std::string idempotency_key{};  // empty: an equal body is the same job again
  FormFields fields{};
  std::optional<Upload> upload{};
};

/// The jobs of /v1/jobs, durable in the store: what is accepted outlasts a kill of the server. A job is its client's:
/// to others it is not there. Calls may wait for the disk. Thread-safe.
class JobService {
 public:
  /// Repairs what a killed server has left, and goes on with its jobs. `service` and `store` outlive it.
  static Result<std::unique_ptr<JobService>> start(const JobServiceOptions& options, SpeechService& service,
                                                   JobStore& store);
  JobService(const JobServiceOptions& options, JobFiles files, SpeechService& service, JobStore& store, RunId run);
  ~JobService();

  const JobFiles& files() const { return files_; }

  struct Accepted {
    std::string json{};
    JobId id = 0;
    bool is_new = false;  // false: it was accepted before, and this is how it is doing
  };
  /// A job that was accepted is on disk. The error: what is wrong with it, 422 for an Idempotency-Key of another body,
  /// 429 for a client with too many jobs, 503 for a full disk.
  tl::expected<Accepted, ApiError> accept(JobSubmission submission);

  /// The job's JSON; 404: the client has no such job.
  tl::expected<std::string, ApiError> job(const std::string& client, JobId id) const;
  /// A part of the client's jobs by `status`, `after` and `limit`.
  tl::expected<std::string, ApiError> list(const std::string& client,
                                           const std::map<std::string, std::string>& parameters) const;
  /// The transcript of a job that is done, in the format that was requested for it, or that `parameters` names.
  tl::expected<HttpAnswer, ApiError> result(const std::string& client, JobId id,
                                            const std::map<std::string, std::string>& parameters) const;
  /// Cancels a job that has not ended, and removes one that has, with its files.
  tl::expected<std::string, ApiError> remove(const std::string& client, JobId id);
  tl::expected<std::string, ApiError> retry(const std::string& client, JobId id);
  /// Begins a stream of its events.
  std::optional<ApiError> follow(const std::string& client, JobId id, const std::shared_ptr<HttpExchange>& exchange);

  // For the page, whose clients may steer every job. Fault::missing: it is not there, or in no state for that.
  Result<void> cancel_any(JobId id);
  Result<void> retry_any(JobId id);
  Result<void> set_priority(JobId id, int priority);

  std::size_t in_work() const { return runner_.in_work(); }
  /// A job is to be claimed now or later.
  bool has_waiting() const { return runner_.has_waiting(); }

  /// Claims no more jobs, and ends the streams: the server stops. What is in work goes on.
  void drain();
  /// Nothing waits any more. To be called before the service is stopped, which must be before this goes.
  void abort() { runner_.abort(); }

 private:
  tl::expected<Job, ApiError> find(const std::string& client, JobId id) const;
  /// `body`: the digest of the recording's bytes, with the fields that change the result.
  tl::expected<Accepted, ApiError> accept_one(JobSubmission& submission, const JobRequest& request,
                                              const std::string& body, const std::string& key);
  tl::expected<Accepted, ApiError> again(const Job& job, JobSubmission& submission, const std::string& body);
  std::optional<ApiError> check_source(const JobRequest& request, const std::optional<Upload>& upload) const;
  std::string json_of(const Job& job) const;
  Result<std::size_t> forget(const Job& job);
  void remove_old();

  const JobServiceOptions options_;
  const JobFiles files_;
  JobStore& store_;
  const RunId run_;
  const Clock::Instant started_ = Clock::real().now();
  Guarded<std::set<std::string>> accepting_{};  // keys of submissions that are being looked at
  JobEvents events_{};
  JobCallbacks callbacks_;
  JobRunner runner_;
  std::unique_ptr<PeriodicThread> removing_{};
  std::unique_ptr<PeriodicThread> heartbeat_{};
};

}  // namespace tutti
