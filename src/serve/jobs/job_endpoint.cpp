#include "serve/jobs/job_endpoint.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"
#include "serve/http/form.h"
#include "serve/http/multipart.h"
#include "serve/openai/api_error.h"

namespace tutti {
namespace {

constexpr std::uint64_t kJsonBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMostKey = 255;

HttpAnswer answer_with(const tl::expected<std::string, ApiError>& json) {
  return json ? HttpAnswer{.body = *json + "\n"} : answer_of(json.error());
}

/// Takes a job's recording and fields, as a form or as a JSON object, and has the job accepted.
class SubmissionBody : public HttpBody {
 public:
  SubmissionBody(JobService& jobs, AnswerThreads& answering, JobSubmission submission)
      : jobs_(jobs), answering_(answering), submission_(std::make_shared<JobSubmission>(std::move(submission))) {}

  void complete(std::shared_ptr<HttpExchange> exchange) final {
    if (auto wrong = finish(*submission_)) return exchange->answer(answer_of(*wrong));
    answering_.answer(exchange, [&jobs = jobs_, submission = submission_] {
      const auto accepted = jobs.accept(std::move(*submission));
      if (!accepted) return answer_of(accepted.error());
      HttpAnswer answer{.status = accepted->is_new ? 202 : 200, .body = accepted->json + "\n"};
      answer.headers.emplace_back("Location", "/v1/jobs/" + std::to_string(accepted->id));
      if (!accepted->is_new) answer.headers.emplace_back("Idempotent-Replayed", "true");
      return answer;
    });
  }

 private:
  /// Completes the submission with what has come.
  virtual std::optional<ApiError> finish(JobSubmission& submission) = 0;

  JobService& jobs_;
  AnswerThreads& answering_;
  std::shared_ptr<JobSubmission> submission_;
};

class FormSubmission final : public SubmissionBody {
 public:
  FormSubmission(JobService& jobs, AnswerThreads& answering, JobSubmission submission, const std::string& boundary)
      : SubmissionBody(jobs, answering, std::move(submission)),
        form_({.file_bytes = jobs.files().most_bytes()}, [&jobs] { return jobs.files().open_upload(); }),
        reader_(boundary, form_) {}

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    auto fed = reader_.feed(bytes);
    if (!fed) return tl::unexpected<HttpAnswer>(answer_of(api_error_of(fed.error(), "file")));
    return {};
  }

 private:
  std::optional<ApiError> finish(JobSubmission& submission) override {
    if (auto ended = reader_.finish(); !ended) return api_error_of(ended.error(), "");
    Form form = form_.release();
    submission.fields = std::move(form.fields);
    submission.upload = std::move(form.upload);
    return std::nullopt;
  }

  FormReader form_;
  MultipartReader reader_;
};

class JsonSubmission final : public SubmissionBody {
 public:
  using SubmissionBody::SubmissionBody;

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    json_ += bytes;
    if (json_.size() <= kJsonBytes) return {};
    return tl::unexpected<HttpAnswer>(answer_of({.status = 413, .message = "the body is larger than 1 MiB"}));
  }

 private:
  std::optional<ApiError> finish(JobSubmission& submission) override {
    auto fields = fields_of_json(json_);
    if (!fields) return std::move(fields.error());
    submission.fields = std::move(*fields);
    return std::nullopt;
  }

  std::string json_{};
};

}  // namespace

JobEndpoint::Begun JobEndpoint::begin(const HttpHead& head, const std::string& client, bool draining) {
  if (head.path != "/v1/jobs") return of_job(head, client);
  if (is_read(head))
    return answering_.later([this, client, parameters = query_parameters(head.query)] {
      return answer_with(jobs_.list(client, parameters));
    });
  if (head.method != "POST") return not_allowed("GET, POST");
  if (draining) return answer_of({.status = 503, .message = "the server is stopping", .retry_after = Seconds(5)});
  return accept(head, client);
}

JobEndpoint::Begun JobEndpoint::accept(const HttpHead& head, const std::string& client) {
  JobSubmission submission{.client = client, .idempotency_key = std::string(trimmed(head.header("idempotency-key")))};
  if (submission.idempotency_key.size() > kMostKey)
    return answer_of({.message = "Idempotency-Key: expected at most 255 characters"});
  const std::string type = ascii_lower(trimmed(head.header("content-type")));
  if (type.starts_with("application/json"))
    return std::make_unique<JsonSubmission>(jobs_, answering_, std::move(submission));
  const auto boundary = boundary_of(head.header("content-type"));
  if (!boundary)
    return answer_of({.message = "expected multipart/form-data with a recording, or application/json with a url; " +
                                 boundary.error().what});
  if (auto refused = refused_upload(head, jobs_.files().most_bytes(), jobs_.files().folder()))
    return answer_of(*refused);
  return std::make_unique<FormSubmission>(jobs_, answering_, std::move(submission), *boundary);
}

JobEndpoint::Begun JobEndpoint::of_job(const HttpHead& head, const std::string& client) {
  constexpr std::string_view kFolder = "/v1/jobs/";
  const std::string_view rest = std::string_view(head.path).substr(kFolder.size());
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto id = number_in<JobId>(rest.substr(0, slash));
  const std::string part(rest.substr(slash));
  const bool known = part.empty() || part == "/retry" || part == "/events" || part == "/result";
  if (!id || *id <= 0 || !known)
    return answer_of({.status = 404,
                      .message = "there is no job at this address: " + head.path.substr(0, 200),
                      .code = "job_not_found"});
  if (part == "/retry") return head.method == "POST" ? steer(client, *id, /*remove=*/false) : not_allowed("POST");
  if (part.empty() && head.method == "DELETE") return steer(client, *id, /*remove=*/true);
  if (!is_read(head)) return not_allowed(part.empty() ? "GET, DELETE" : "GET");
  if (part == "/events")
    return std::make_unique<EmptyBody>([this, client, id = *id](const std::shared_ptr<HttpExchange>& exchange) {
      answering_.run(exchange, [this, client, id, exchange] {
        if (auto wrong = jobs_.follow(client, id, exchange)) exchange->answer(answer_of(*wrong));
      });
    });
  if (part == "/result")
    return answering_.later([this, client, id = *id, parameters = query_parameters(head.query)] {
      auto result = jobs_.result(client, id, parameters);
      return result ? std::move(*result) : answer_of(result.error());
    });
  return answering_.later([this, client, id = *id] { return answer_with(jobs_.job(client, id)); });
}

JobEndpoint::Begun JobEndpoint::steer(const std::string& client, JobId id, bool remove) {
  return answering_.later(
      [this, client, id, remove] { return answer_with(remove ? jobs_.remove(client, id) : jobs_.retry(client, id)); });
}

}  // namespace tutti
