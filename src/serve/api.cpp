#include "serve/api.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "metrics/prometheus.h"
#include "net/url_fetch.h"
#include "serve/http/form.h"
#include "serve/jobs/job_json.h"
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

constexpr Seconds kLiveAgain{30};     // a speaker seldom stops earlier
constexpr Seconds kDrainedAgain{30};  // an operator resumes devices, not a moment that passes

/// Whose request for a WebSocket it is. A browser's request for one has no headers of the page: OpenAI's clients there
/// name the token among the protocols. It may be escaped, since a protocol's name has few characters.
std::optional<ApiClient> socket_client(const Access& access, const HttpHead& head) {
  if (auto client = access.client_of(head.header("authorization"))) return client;
  constexpr std::string_view kKey = "openai-insecure-api-key.";
  for (const auto protocol : split(head.header("sec-websocket-protocol"), ',')) {
    const std::string_view name = trimmed(protocol);
    if (!name.starts_with(kKey)) continue;
    const std::string key(name.substr(kKey.size()));
    if (auto client = access.client_of("Bearer " + key)) return client;
    if (auto client = access.client_of("Bearer " + percent_decoded(key))) return client;
  }
  return std::nullopt;
}

HttpAnswer state_answer(int status, const char* state, Seconds again = Seconds(1)) {
  HttpAnswer answer{.status = status, .body = json_line(nlohmann::ordered_json{{"status", state}}) + "\n"};
  if (status == 503) answer.headers.emplace_back("Retry-After", fixed_text(again.count(), 0));
  return answer;
}

}  // namespace

Api::Api(ApiOptions options, const Parts& parts)
    : options_(std::move(options)),
      service_(options_.models ? parts.service : nullptr),
      store_(parts.store),
      dashboard_(parts.dashboard),
      live_(parts.live),
      endpoint_(service_ ? std::optional<SpeechEndpoint>({.service = *service_,
                                                          .models = *options_.models,
                                                          .usual = options_.usual,
                                                          .sessions = live_,
                                                          .limits = {.file_bytes = options_.max_upload}})
                         : std::nullopt),
      realtime_(service_ ? std::optional<RealtimeEndpoint>(
                               {.service = *service_, .models = *options_.models, .usual = options_.usual})
                         : std::nullopt),
      jobs_(service_ && parts.jobs ? std::make_unique<JobEndpoint>(*parts.jobs) : nullptr),
      voice_(options_.voice ? std::make_unique<VoiceEndpoint>(*options_.voice) : nullptr),
      methods_(kOpenApi) {}

HttpAnswer Api::refused(int status, std::string_view why) {
  return answer_of({.status = status, .message = std::string(why)});
}

/// Whether a page of that origin may read an answer is in the answer itself, also in a refusal.
HttpHeaders Api::headers_for(const HttpHead& head) {
  const std::string_view origin = head.header("origin");
  const auto is_allowed = [&](const std::string& allowed) { return allowed == "*" || allowed == ascii_lower(origin); };
  if (options_.origins.empty()) return {};
  HttpHeaders headers{{"Vary", "Origin"}};
  if (origin.empty() || std::ranges::none_of(options_.origins, is_allowed)) return headers;
  headers.emplace_back("Access-Control-Allow-Origin", origin);
  headers.emplace_back("Access-Control-Expose-Headers",
                       "Idempotent-Replayed, Location, Retry-After, x-request-id, x-should-retry, "
                       "x-tutti-ignored-fields, x-tutti-left-out, x-tutti-losses");
  if (head.method != "OPTIONS") return headers;
  headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE");
  const std::string_view requested = head.header("access-control-request-headers");  // the token opens, not a header
  headers.emplace_back("Access-Control-Allow-Headers", requested.empty() ? "authorization, content-type" : requested);
  headers.emplace_back("Access-Control-Max-Age", "600");
  return headers;
}

/// One line for each request that may have cost something or was refused; what probes, scrapers and open pages read
/// every second is left out.
void Api::ended(const HttpHead& head, const HttpRecord& record) {
  counts_.add(head, record);
  constexpr int kFirstError = 400;
  constexpr std::size_t kMostPath = 200;
  const bool polled = is_read(head) && !head.path.starts_with("/v1/");
  if (polled && record.status < kFirstError) return;
  const auto client = socket_client(options_.access, head);
  const std::string what = head.method.empty() ? "no HTTP" : head.method + " " + head.path.substr(0, kMostPath);
  const std::string status = record.status == 0 ? "the client left" : "status " + std::to_string(record.status);
  log(Level::info, "request " + (head.id.empty() ? "-" : head.id) + " of " + (client ? client->name : "no client") +
                       " at " + (head.address.empty() ? "-" : head.address) + ": " + what + ": " + status + ", " +
                       std::to_string(record.received) + " bytes in, " + std::to_string(record.sent) + " bytes out, " +
                       fixed_text(record.took.count(), 3) + " s");
}

HttpAnswer Api::ready() const {
  if (draining_) return state_answer(503, "draining");
  if (service_ && !service_->ready()) return state_answer(503, "loading model");
  if (service_ && service_->control().held()) return state_answer(503, "drained", kDrainedAgain);
  return state_answer(200, "ok");
}

HttpAnswer Api::metrics() const {
  std::vector<MetricSnapshot> all = counts_.metrics();
  const auto add = [&](const std::vector<MetricSnapshot>& more) { all.insert(all.end(), more.begin(), more.end()); };
  if (service_) add(service_->control().metrics());
  if (service_) add(device_metrics(service_->control().status()));
  if (voice_) add(voice_->metrics());
  if (service_)
    add({{{"tutti_live_streams"}, "clients that stream live audio", static_cast<double>(live_.taken())},
         {{"tutti_live_streams_most"}, "so many may at once", static_cast<double>(live_.most())}});
  const auto open = store_.open_by_class();
  const auto counts = store_.counts({});
  if (open && counts) add(job_metrics(*open, *counts));  // a store that is busy has them the next time
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = prometheus_text(all)};
}

std::variant<HttpAnswer, std::unique_ptr<HttpBody>> Api::begin(const HttpHead& head) {
  if (head.method == "OPTIONS")  // a browser's preflight, which has no token
    return HttpAnswer{.status = 204, .type = "", .headers = {{"Allow", methods_.allowed_at(head.path)}}};
  const bool health = head.path == "/livez" || head.path == "/readyz" || head.path == "/health";
  if (health && !is_read(head)) return not_allowed("GET");
  if (head.path == "/livez") return state_answer(200, "ok");
  if (health) return ready();
  if (head.path == "/openapi.json") {
    if (!is_read(head)) return not_allowed("GET");
    return HttpAnswer{.body = std::string(kOpenApi)};
  }
  if (head.path == "/metrics") {
    if (!is_read(head)) return not_allowed("GET");
    return answering_.later([this] { return metrics(); });
  }
  const auto client = options_.access.client_of(head.header("authorization"));
  if (dashboard_ && dashboard_->has(head.path)) return dashboard_->begin(head, client);
  if (!head.path.starts_with("/v1/"))
    return answer_of({.status = 404, .message = "there is nothing at this address; see /v1/models"});
  return client ? counted(with_token(head, *client)) : unauthorized(head);
}

/// An answer that is there at once is a request that has begun and ended.
Api::Begun Api::counted(Begun begun) {
  if (auto* body = std::get_if<std::unique_ptr<HttpBody>>(&begun))
    return std::make_unique<CountedBody>(requests_, std::move(*body));
  requests_.begin();
  requests_.end();
  return begun;
}

std::optional<HttpAnswer> Api::refuse_live() const {
  if (draining_) return answer_of({.status = 503, .message = "the server is stopping", .retry_after = Seconds(5)});
  if (!service_->ready())
    return answer_of({.status = 503, .message = "the model is being loaded", .retry_after = Seconds(5)});
  if (const auto held = service_->control().held())
    return answer_of({.status = 503, .message = *held, .code = "devices_drained", .retry_after = kDrainedAgain});
  return std::nullopt;
}

std::variant<HttpAnswer, std::unique_ptr<SocketSession>> Api::begin_socket(const HttpHead& head) {
  const auto client = socket_client(options_.access, head);
  if (!client) return unauthorized(head);
  if (head.path != "/v1/realtime" || !service_)
    return answer_of({.status = 404, .message = "there is no WebSocket at this address; see /v1/realtime"});
  const auto parameters = query_parameters(head.query);
  if (const auto intent = parameters.find("intent"); intent == parameters.end() || intent->second != "transcription")
    return answer_of({.status = 400,
                      .message = "intent: expected transcription: this server has no other sessions",
                      .param = "intent"});
  if (const auto model = parameters.find("model");
      model != parameters.end() && !options_.models->contains(model->second))
    return answer_of(options_.models->missing(model->second));
  if (auto refused = refuse_live()) return std::move(*refused);
  const auto admission = live_.admit(request_of_client(client->fingerprint, head.address));
  if (!admission)
    return answer_of({.status = 503,
                      .message = std::to_string(live_.most()) + " clients stream live audio already",
                      .code = "rate_limit_exceeded",
                      .retry_after = kLiveAgain});
  requests_.begin();  // the server is not idle while a client streams
  const std::shared_ptr<LiveSessions::Admission> counted(
      admission.get(), [this, admission](LiveSessions::Admission*) { requests_.end(); });
  return std::make_unique<RealtimeSession>(*realtime_, head.id, counted);
}

Api::Begun Api::with_token(const HttpHead& head, const ApiClient& client) {
  if (voice_ && head.path == "/v1/audio/speech") return voice_->begin(head, draining_);
  if ((service_ || voice_) && (head.path == "/v1/models" || head.path.starts_with("/v1/models/"))) return models(head);
  if (service_) return of_model(head, client);
  return answer_of({.status = 404, .message = "this server has no model for that; start it with " + field("model")});
}

Api::Begun Api::of_model(const HttpHead& head, const ApiClient& client) {
  if (jobs_ && JobEndpoint::has(head.path)) return jobs_->begin(head, client.fingerprint, draining_);
  const std::string turns = request_of_client(client.fingerprint, head.address);
  if (head.path == "/v1/audio/transcriptions") return speech(head, turns, /*translate=*/false);
  if (head.path == "/v1/audio/translations") return speech(head, turns, /*translate=*/true);
  if (head.path == "/v1/realtime") {
    if (!is_read(head)) return not_allowed("GET");
    HttpAnswer answer = answer_of({.status = 426, .message = "this address is a WebSocket's"});
    answer.headers.emplace_back("Upgrade", "websocket");
    return answer;
  }
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
  if (const auto held = service_->control().held())
    return answer_of({.status = 503, .message = *held, .code = "devices_drained", .retry_after = kDrainedAgain});
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
