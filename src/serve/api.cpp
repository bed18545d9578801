#include "serve/api.h"

#include <optional>
#include <vector>

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "metrics/prometheus.h"
#include "serve/http/form.h"
#include "serve/openai/api_error.h"

namespace tutti {

extern const std::string_view kOpenApi;  // web/openapi.json, compiled in (CMakeLists.txt)

namespace {

HttpAnswer unauthorized(const HttpHead& head) {
  if (head.header("authorization").empty())
    return answer_of(
        {.status = 401,
         .message = "you did not provide an API key; send one as 'Authorization: Bearer KEY'. The keys are "
                    "in the file that the server was given by " +
                    field("token_file") + ", or named at its start"});
  return answer_of({.status = 401, .message = "the API key is not one of this server's", .code = "invalid_api_key"});
}

HttpAnswer state_answer(int status, const char* state) {
  HttpAnswer answer{.status = status, .body = json_line(nlohmann::ordered_json{{"status", state}}) + "\n"};
  if (status == 503) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace

Api::Api(ApiOptions options, SpeechService* service, JobService* jobs, Dashboard* dashboard)
    : options_(std::move(options)),
      service_(options_.models ? service : nullptr),
      dashboard_(dashboard),
      endpoint_(service_ ? std::optional<SpeechEndpoint>({.service = *service_,
                                                          .models = *options_.models,
                                                          .usual = options_.usual,
                                                          .limits = {.file_bytes = options_.max_upload}})
                         : std::nullopt),
      jobs_(service_ && jobs ? std::make_unique<JobEndpoint>(*jobs) : nullptr),
      voice_(options_.voice ? std::make_unique<VoiceEndpoint>(*options_.voice) : nullptr) {}

HttpAnswer Api::refused(int status, std::string_view why) {
  return answer_of({.status = status, .message = std::string(why)});
}

HttpAnswer Api::ready() const {
  if (draining_) return state_answer(503, "draining");
  return !service_ || service_->ready() ? state_answer(200, "ok") : state_answer(503, "loading model");
}

std::variant<HttpAnswer, std::unique_ptr<HttpBody>> Api::begin(const HttpHead& head) {
  const bool health = head.path == "/livez" || head.path == "/readyz" || head.path == "/health";
  if (health && !is_read(head)) return not_allowed("GET");
  if (head.path == "/livez") return state_answer(200, "ok");
  if (health) return ready();
  if (head.path == "/openapi.json") {
    if (!is_read(head)) return not_allowed("GET");
    return HttpAnswer{.body = std::string(kOpenApi)};
  }
  if (head.path == "/metrics" && service_) {
    if (!is_read(head)) return not_allowed("GET");
    return HttpAnswer{.type = "text/plain; version=0.0.4; charset=utf-8",
                      .body = prometheus_text(service_->control().metrics())};
  }
  const auto token = options_.access.token_of(head.header("authorization"));
  if (dashboard_ && dashboard_->has(head.path)) return dashboard_->begin(head, token.has_value());
  if (!head.path.starts_with("/v1/"))
    return answer_of({.status = 404, .message = "there is nothing at this address; see /v1/models"});
  return token ? with_token(head, *token) : unauthorized(head);
}

Api::Begun Api::with_token(const HttpHead& head, std::size_t token) {
  if (voice_ && head.path == "/v1/audio/speech") return voice_->begin(head, draining_);
  if ((service_ || voice_) && (head.path == "/v1/models" || head.path.starts_with("/v1/models/"))) return models(head);
  if (service_) return of_model(head, token);
  return answer_of({.status = 404, .message = "this server has no model for that; start it with " + field("model")});
}

Api::Begun Api::of_model(const HttpHead& head, std::size_t token) {
  if (jobs_ && JobEndpoint::has(head.path)) return jobs_->begin(head, options_.access.fingerprint(token), draining_);
  const std::string client = std::to_string(token) + " " + head.address;
  if (head.path == "/v1/audio/transcriptions") return speech(head, client, /*translate=*/false);
  if (head.path == "/v1/audio/translations") return speech(head, client, /*translate=*/true);
  if (head.path == "/v1/audio/speech") {
    if (head.method != "POST") return not_allowed("POST");
    return answer_of({.status = 404, .message = "this server has no voice: start it with " + field("voice")});
  }
  return answer_of({.status = 404, .message = "unknown address: " + head.method + " " + head.path.substr(0, 200)});
}

Api::Begun Api::models(const HttpHead& head) const {
  if (!is_read(head)) return not_allowed("GET");
  constexpr std::string_view kFolder = "/v1/models/";
  std::vector<const ModelNames*> loaded;
  if (options_.models) loaded.push_back(&*options_.models);
  if (voice_) loaded.push_back(&voice_->names());
  if (head.path.size() <= kFolder.size()) return HttpAnswer{.body = ModelNames::list_json(loaded) + "\n"};
  const std::string name = head.path.substr(kFolder.size());
  for (const ModelNames* names : loaded)
    if (names->contains(name)) return HttpAnswer{.body = names->model_json(name) + "\n"};
  return answer_of(loaded.front()->missing(name));
}

Api::Begun Api::speech(const HttpHead& head, const std::string& client, bool translate) {
  if (head.method != "POST") return not_allowed("POST");
  if (draining_) return answer_of({.status = 503, .message = "the server is stopping", .retry_after = Seconds(5)});
  if (auto refused = refused_upload(head, options_.max_upload, temporary_folder())) return answer_of(*refused);
  const auto load = service_->load();
  if (load.waiting >= options_.most_waiting)
    return answer_of({.status = 429,
                      .message = std::to_string(load.waiting) + " requests wait already",
                      .code = "rate_limit_exceeded",
                      .retry_after = load.expected_wait});
  auto body = speech_body(*endpoint_, head, client, translate);
  if (!body) return std::move(body.error());
  return std::move(*body);
}

}  // namespace tutti
