#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "serve/answer_threads.h"
#include "serve/http/http.h"
#include "serve/jobs/job_service.h"

namespace tutti {

/// /v1/jobs and what is below it: which request does what. Answers on threads of its own.
class JobEndpoint {
 public:
  using Begun = std::variant<HttpAnswer, std::unique_ptr<HttpBody>>;

  explicit JobEndpoint(JobService& jobs) : jobs_(jobs) {}

  static bool has(const std::string& path) { return path == "/v1/jobs" || path.starts_with("/v1/jobs/"); }
  /// `client`: the fingerprint of its token. `draining`: no new job is taken.
  Begun begin(const HttpHead& head, const std::string& client, bool draining);

 private:
  Begun accept(const HttpHead& head, const std::string& client);
  Begun of_job(const HttpHead& head, const std::string& client);
  Begun steer(const std::string& client, JobId id, bool remove);

  JobService& jobs_;
  AnswerThreads answering_{4, 1024};
};

}  // namespace tutti
