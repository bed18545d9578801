#include "serve/jobs/job_service.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"
#include "jobs/sweep.h"
#include "net/url_fetch.h"
#include "serve/jobs/job_json.h"
#include "serve/openai/speech_answer.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr Seconds kCancelledAgain{1};
constexpr Seconds kTooManyAgain{60};

tl::unexpected<ApiError> error(int status, std::string message, std::string param = {}, std::string code = {}) {
  return tl::unexpected<ApiError>(
      {.status = status, .message = std::move(message), .param = std::move(param), .code = std::move(code)});
}

tl::unexpected<ApiError> error(const Error& failed) {
  return tl::unexpected<ApiError>(api_error_of(failed, ""));
}

Result<std::string> digest_of_file(int file) {
  Sha256 digest;
  std::array<std::byte, std::size_t{256} << 10> block;
  for (std::int64_t at = 0;;) {
    const auto got = TRY(read_at(file, block, at, "the upload"));
    digest.update(std::span(block).first(got));
    at += static_cast<std::int64_t>(got);
    if (got < block.size()) return digest.hex();
  }
}

/// One submission with a key at a time, so that two of the same job cannot both be its first.
class KeyLock {
 public:
  KeyLock(Guarded<std::set<std::string>>& keys, std::string key) : keys_(keys), key_(std::move(key)) {
    keys_.wait([&](const auto& taken) { return !taken.contains(key_); }, [&](auto& taken) { taken.insert(key_); });
  }
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;
  ~KeyLock() {
    keys_.change([&](auto& taken) { taken.erase(key_); });
  }

 private:
  Guarded<std::set<std::string>>& keys_;
  const std::string key_;
};

std::string name_of(const JobRequest& request, const std::optional<Upload>& upload) {
  if (!request.name.empty()) return request.name;
  if (upload) return upload->name;
  const std::string path = request.location.substr(0, request.location.find_first_of("?#"));
  const auto slash = path.find_last_of('/');
  const std::string last = slash == std::string::npos ? path : path.substr(slash + 1);
  return last.empty() ? "a recording" : last;
}

}  // namespace

Result<std::unique_ptr<JobService>> JobService::start(const JobServiceOptions& options, SpeechService& service,
                                                      JobStore& store) {
  auto files = TRY(JobFiles::open(options.files));
  const std::filesystem::path staging[] = {files.staging()};
  const auto swept = TRY(sweep_outputs(store, staging, Existing::replace));
  for (const auto& stuck : swept.stuck) log(Level::warning, stuck.why.text());
  files.sweep(store);
  const auto run = TRY(store.begin_run(options.run));
  return std::make_unique<JobService>(options, std::move(files), service, store, run);
}

JobService::JobService(const JobServiceOptions& options, JobFiles files, SpeechService& service, JobStore& store,
                       RunId run)
    : options_(options),
      files_(std::move(files)),
      store_(store),
      run_(run),
      callbacks_({.limits = {.private_hosts = files_.url_hosts()}}),
      runner_({.service = service,
               .queue = store,
               .admin = store,
               .records = store,
               .files = files_,
               .events = events_,
               .callbacks = callbacks_,
               .models = options_.models,
               .usual = options_.usual}) {
  // Without a status: what its devices do is not for those who look at fleets.
  const auto report = [this] { (void)store_.report_run(run_, ""); };
  report();
  heartbeat_ = std::make_unique<PeriodicThread>(std::chrono::seconds(15), report);
  if (!options_.keep) return;
  constexpr Seconds kOften{1}, kSeldom{600};
  const auto every = std::clamp(*options_.keep / 10, kOften, kSeldom);
  removing_ = std::make_unique<PeriodicThread>(std::chrono::duration_cast<std::chrono::seconds>(every),
                                               [this] { remove_old(); });
}

JobService::~JobService() {
  heartbeat_.reset();
  removing_.reset();
  const auto counts = store_.counts({.run = run_});
  RunEnd end{.elapsed = Clock::real().now() - started_, .audio = runner_.audio_done()};
  if (counts) {
    end.total = counts->total();
    end.successful = counts->done;
    end.failed = counts->dead;
    end.cancelled = counts->cancelled;
  }
  if (auto ended = store_.end_run(run_, end); !ended) log(Level::warning, ended.error().text());
}

void JobService::drain() {
  runner_.stop_claiming();
  events_.close();
}

std::string JobService::json_of(const Job& job) const {
  return json_line(job_json(job, events_.progress(job.id), runner_.why_waits(job)));
}

// ---- accepting

std::optional<ApiError> JobService::check_source(const JobRequest& request, const std::optional<Upload>& upload) const {
  const auto invalid = [](std::string param, std::string message) {
    return ApiError{.message = std::move(message), .param = std::move(param)};
  };
  if (!request.callback.empty() && !check_url(request.callback))
    return invalid("callback", "callback: expected an address that begins with http:// or https://");
  if (request.source == JobRequest::Source::upload) {
    if (!upload) return invalid("file", "file: expected a recording as a file part of the form, or 'url' or 'path'");
    if (upload->size == 0) return invalid("file", "file: " + upload->name + " is empty");
    return std::nullopt;
  }
  if (upload) return invalid("file", "file: expected either a recording or its address");
  if (request.source == JobRequest::Source::url) {
    if (auto valid = check_url(request.location); !valid) return invalid("url", valid.error().what);
    return std::nullopt;
  }
  const auto readable = files_.check_path(request.location);
  if (readable) return std::nullopt;
  constexpr int kForbidden = 403;
  ApiError refused = invalid("path", readable.error().text());
  if (readable.error().fault == Fault::refused) {
    refused.status = kForbidden;
    refused.code = "path_not_allowed";
  }
  return refused;
}

tl::expected<JobService::Accepted, ApiError> JobService::accept(JobSubmission submission) {
  // An empty field is absent. Kept, it would be sealed, and read as an address that is not empty.
  std::erase_if(submission.fields, [](const auto& field) { return trimmed(field.second).empty(); });
  const auto request = TRY(read_job_request(submission.fields, options_.usual));
  if (!options_.models.contains(request.form.model))
    return tl::unexpected<ApiError>(options_.models.missing(request.form.model));
  if (auto wrong = check_source(request, submission.upload)) return tl::unexpected(std::move(*wrong));
  std::string content;
  if (submission.upload) {
    auto digest = digest_of_file(submission.upload->file.get());
    if (!digest) return error(digest.error());
    content = std::move(*digest);
  }
  const std::string body = sha256_of(content + "\n" + options_.models.own() + "\n" + result_fields(submission.fields));
  const std::string key = files_.key_of(job_digest(submission.client, submission.idempotency_key, body));
  const KeyLock lock(accepting_, key);
  return accept_one(submission, request, body, key);
}

tl::expected<JobService::Accepted, ApiError> JobService::accept_one(JobSubmission& submission,
                                                                    const JobRequest& request, const std::string& body,
                                                                    const std::string& key) {
  const auto known = store_.find(key);
  if (!known) return error(known.error());
  if (*known) return again(**known, submission, body);
  const std::string batch = batch_of_client(submission.client);
  const auto open = store_.counts({.batch = batch, .states = {JobState::queued, JobState::running, JobState::held}});
  if (!open) return error(open.error());
  if (open->total() >= static_cast<std::int64_t>(options_.most_a_client))
    return tl::unexpected<ApiError>(
        {.status = 429,
         .message = std::to_string(open->total()) + " of your jobs have not ended; this server takes no more at a time",
         .code = "too_many_jobs",
         .retry_after = kTooManyAgain});
  if (submission.upload)
    if (auto kept = files_.keep_upload(submission.upload->file.get(), key); !kept) return error(kept.error());
  const JobSpec spec{.key = key,
                     .batch = batch,
                     .input = submission.upload                           ? JobFiles::upload_of(key)
                              : request.source == JobRequest::Source::url ? shown_address(request.location)
                                                                          : request.location,
                     .options = body,
                     .job_class = request.job_class,
                     .priority = request.priority,
                     .name = name_of(request, submission.upload),
                     .extra = to_extra(files_.sealed(submission.fields))};
  const auto submitted = store_.submit(run_, {&spec, 1});
  if (!submitted) return error(submitted.error());
  runner_.wake(batch);
  const auto job = store_.find(key);
  if (!job || !*job) return error(500, "the job is not in the store");
  return Accepted{.json = json_of(**job), .id = (*job)->id, .is_new = true};
}

/// A job that is there already. One that has failed, or was cancelled, is done again where its client sends it again:
/// not where an Idempotency-Key marks it as the same request.
tl::expected<JobService::Accepted, ApiError> JobService::again(const Job& job, JobSubmission& submission,
                                                               const std::string& body) {
  if (job.spec.options != body)
    return error(422, "Idempotency-Key: it was used for another body; a new job needs a new key", "",
                 "idempotency_key_reused");
  if (job.cancel_requested && submission.idempotency_key.empty())
    return tl::unexpected<ApiError>({.status = 409,
                                     .message = "job " + std::to_string(job.id) +
                                                " is this request and is being cancelled; send it again in a second",
                                     .code = "job_being_cancelled",
                                     .retry_after = kCancelledAgain});
  const bool ended = job.state == JobState::dead || job.state == JobState::cancelled;
  if (!ended || !submission.idempotency_key.empty()) return Accepted{.json = json_of(job), .id = job.id};
  if (submission.upload)
    if (auto kept = files_.keep_upload(submission.upload->file.get(), job.spec.key); !kept) return error(kept.error());
  auto retried = retry(submission.client, job.id);
  if (!retried) return tl::unexpected(std::move(retried.error()));
  return Accepted{.json = std::move(*retried), .id = job.id, .is_new = true};
}

// ---- looking

tl::expected<Job, ApiError> JobService::find(const std::string& client, JobId id) const {
  auto found = store_.jobs({.ids = {id}}, 0, 1);
  if (!found) return error(found.error());
  if (found->empty() || found->front().spec.batch != batch_of_client(client))
    return error(404, "you have no job " + std::to_string(id), "", "job_not_found");
  return std::move(found->front());
}

tl::expected<std::string, ApiError> JobService::job(const std::string& client, JobId id) const {
  const auto found = TRY(find(client, id));
  return json_of(found);
}

tl::expected<std::string, ApiError> JobService::list(const std::string& client,
                                                     const std::map<std::string, std::string>& parameters) const {
  constexpr std::size_t kUsual = 20, kMost = 100;
  JobFilter filter{.batch = batch_of_client(client)};
  std::size_t limit = kUsual;
  JobId after = 0;
  for (const auto& [name, value] : parameters) {
    if (name == "limit") {
      const auto number = number_in<std::size_t>(value);
      if (!number || *number < 1 || *number > kMost) return error(400, "limit: expected a number from 1 to 100", name);
      limit = *number;
    } else if (name == "after") {
      const auto number = number_in<JobId>(value);
      if (!number || *number < 0) return error(400, "after: expected the id of a job", name);
      after = *number;
    } else if (name == "status") {
      for (const auto part : split(value, ',')) {
        const auto state = state_of(trimmed(part));
        if (!state) return error(400, "status: expected queued, running, done, failed, cancelled or held", name);
        filter.states.push_back(*state);
      }
    }
  }
  auto jobs = store_.jobs(filter, after, limit + 1);
  if (!jobs) return error(jobs.error());
  const bool has_more = jobs->size() > limit;
  if (has_more) jobs->pop_back();
  Json list = Json::array();
  for (const Job& job : *jobs) list.push_back(job_json(job, events_.progress(job.id), runner_.why_waits(job)));
  const auto id_of = [](const Job& job) { return Json(std::to_string(job.id)); };
  return json_line(Json{{"object", "list"},
                        {"data", std::move(list)},
                        {"first_id", jobs->empty() ? Json(nullptr) : id_of(jobs->front())},
                        {"last_id", jobs->empty() ? Json(nullptr) : id_of(jobs->back())},
                        {"has_more", has_more}});
}

tl::expected<HttpAnswer, ApiError> JobService::result(const std::string& client, JobId id,
                                                      const std::map<std::string, std::string>& parameters) const {
  const auto job = TRY(find(client, id));
  const bool failed = job.state == JobState::dead || job.state == JobState::cancelled;
  if (failed)
    return error(404, "the job has no result: it is " + status_of(job.state), "", "job_" + status_of(job.state));
  if (job.state != JobState::done)
    return error(409, "the job is " + status_of(job.state) + ", not done", "", "job_not_done");
  const auto fields = fields_of(job);
  if (!fields) return error(500, "what was requested is not known any more");
  auto request = read_job_request(*fields, options_.usual);
  if (const auto format = parameters.find("response_format"); request && format != parameters.end()) {
    const FormFields named{{"model", request->form.model}, {"response_format", format->second}};
    auto form = TRY(read_speech_form(named, options_.usual, /*translate=*/false));
    request->form.format = form.format;
  }
  if (!request) return tl::unexpected(request.error());
  const auto outputs = store_.outputs(id);
  if (!outputs) return error(outputs.error());
  if (outputs->empty()) return error(404, "the job's result is gone", "", "result_not_found");
  auto text = read_file(outputs->front().path);
  if (!text) text = read_file(outputs->front().staged);
  if (!text) return error(404, "the job's result is gone", "", "result_not_found");
  const auto transcript = read_transcript_json(*text);
  if (!transcript) return error(500, transcript.error().text());
  auto answer = speech_answer(*transcript, audio_of_result(*text, job.spec.audio.value_or(Seconds(0))), request->form);
  if (!answer) return error(answer.error());
  return std::move(*answer);
}

std::optional<ApiError> JobService::follow(const std::string& client, JobId id,
                                           const std::shared_ptr<HttpExchange>& exchange) {
  const auto job = find(client, id);
  if (!job) return job.error();
  events_.follow(id, json_of(*job), exchange);
  // What ended meanwhile has been reported to those who followed it then.
  const auto now = find(client, id);
  if (!now || is_final(now->state)) events_.state(id, json_of(now ? *now : *job), /*last=*/true);
  return std::nullopt;
}

// ---- steering

tl::expected<std::string, ApiError> JobService::remove(const std::string& client, JobId id) {
  const auto job = TRY(find(client, id));
  if (!is_final(job.state)) {
    if (auto cancelled = cancel_any(id); !cancelled && cancelled.error().fault != Fault::missing)
      return error(cancelled.error());
    return this->job(client, id);
  }
  const auto forgotten = forget(job);
  if (!forgotten) return error(forgotten.error());
  if (*forgotten == 0) return error(409, "the job is at work again", "", "job_not_ended");
  return json_line(Json{{"id", std::to_string(id)}, {"object", "job.deleted"}, {"deleted", true}});
}

Result<std::size_t> JobService::forget(const Job& job) {
  auto forgotten = store_.forget({.ids = {job.id}});
  if (!forgotten || *forgotten == 0) return forgotten;
  files_.remove_upload(job.spec.key);
  files_.remove_result(job.spec.key);
  return forgotten;
}

/// Removes the jobs of clients that ended longer ago than they are kept.
void JobService::remove_old() {
  constexpr std::size_t kAtOnce = 1000;
  const StoreTime before = store_.now() - std::chrono::duration_cast<StoreTime::duration>(*options_.keep);
  const JobFilter ended{.states = {JobState::done, JobState::dead, JobState::cancelled}};
  std::size_t removed = 0;
  for (JobId after = 0;;) {
    const auto jobs = store_.jobs(ended, after, kAtOnce);
    if (!jobs || jobs->empty()) break;
    after = jobs->back().id;
    for (const Job& job : *jobs) {
      if (!is_job_of_service(job) || job.submitted >= before) continue;
      const auto attempts = store_.attempts(job.id);
      if (!attempts || (!attempts->empty() && attempts->back().ended.value_or(before) >= before)) continue;
      removed += forget(job).value_or(0);
    }
  }
  if (removed > 0)
    log(Level::info, std::to_string(removed) + " jobs that ended long ago were removed with their results");
}

tl::expected<std::string, ApiError> JobService::retry(const std::string& client, JobId id) {
  const auto job = TRY(find(client, id));
  if (auto retried = retry_any(id); !retried) {
    if (retried.error().fault != Fault::missing) return error(retried.error());
    return error(409, "the job is " + status_of(job.state) + "; only a failed or cancelled one is tried again", "",
                 "job_not_failed");
  }
  return this->job(client, id);
}

Result<void> JobService::cancel_any(JobId id) {
  const auto changed = TRY(store_.cancel({.ids = {id}}));
  runner_.cancel(id);
  if (changed == 0) return fail(Fault::missing, "job " + std::to_string(id) + " is not there, or has ended");
  return {};
}

Result<void> JobService::retry_any(JobId id) {
  const auto changed = TRY(store_.retry({.ids = {id}}));
  if (changed == 0) return fail(Fault::missing, "job " + std::to_string(id) + " is not there, or has not failed");
  const auto job = store_.jobs({.ids = {id}}, 0, 1);
  if (job && !job->empty()) runner_.wake(job->front().spec.batch);
  return {};
}

Result<void> JobService::set_priority(JobId id, int priority) {
  const auto found = TRY(store_.jobs({.ids = {id}}, 0, 1));
  if (found.empty() || found.front().state != JobState::queued || !is_job_of_service(found.front()))
    return fail(Fault::missing, "job " + std::to_string(id) + " is not there, or does not wait here");
  JobSpec spec = found.front().spec;
  spec.priority = priority;
  TRY(store_.submit(run_, {&spec, 1}));
  return {};
}

}  // namespace tutti
