#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job_admin.h"
#include "serve/access.h"
#include "serve/answer_threads.h"
#include "serve/dashboard/dashboard.h"
#include "serve/http/http.h"
#include "serve/jobs/job_endpoint.h"
#include "serve/openai/api_methods.h"
#include "serve/openai/model_names.h"
#include "serve/openai/speech_endpoint.h"
#include "serve/realtime/live_sessions.h"
#include "serve/realtime/realtime_session.h"
#include "serve/requests_in_work.h"
#include "serve/server_metrics.h"
#include "serve/voice/voice_endpoint.h"
#include "transcribe/run.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

struct ApiOptions {
  Access access;
  std::vector<std::string> origins{};                 // of pages in browsers that may read answers; "*": any
  std::optional<ModelNames> models{};                 // none: this server transcribes nothing
  SpeechOptions usual{};                              // options of requests that have no field for them
  std::uint64_t max_upload = std::uint64_t{2} << 30;  // bytes of a recording
  std::size_t most_waiting = 1024;                    // requests beyond those are sent away for a while
  std::optional<VoiceService> voice{};                // none: this server does not speak
};

/// Which request goes where. Decides by the head of a request alone, so that nothing is read for one that is refused.
class Api final : public HttpHandler {
 public:
  /// What it serves with. All of it outlives it.
  struct Parts {
    SpeechService* service = nullptr;  // transcribes for the options' model
    JobService* jobs = nullptr;        // its, in `store`
    JobAdmin& store;
    LiveSessions& live;
    Dashboard* dashboard = nullptr;  // null: there is no page
  };
  Api(ApiOptions options, const Parts& parts);

  std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) override;
  std::variant<HttpAnswer, std::unique_ptr<SocketSession>> begin_socket(const HttpHead& head) override;
  HttpAnswer refused(int status, std::string_view why) override;
  HttpHeaders headers_for(const HttpHead& head) override;
  void ended(const HttpHead& head, const HttpRecord& record) override;

  /// Nothing new is begun from now on, and /readyz answers 503.
  void drain() {
    draining_ = true;
    live_.finish();
  }
  /// Of clients with a token.
  RequestsInWork::Numbers requests() const { return requests_.now(); }
  /// Nothing is being spoken.
  bool idle() const { return !voice_ || voice_->idle(); }

 private:
  using Begun = std::variant<HttpAnswer, std::unique_ptr<HttpBody>>;

  HttpAnswer ready() const;
  HttpAnswer metrics() const;
  Begun counted(Begun begun);
  Begun with_token(const HttpHead& head, const ApiClient& client);
  Begun of_model(const HttpHead& head, const ApiClient& client);
  Begun models(const HttpHead& head) const;
  Begun speech(const HttpHead& head, const std::string& client, bool translate);
  /// Why no live audio is taken now; none: it is.
  std::optional<HttpAnswer> refuse_live() const;

  const ApiOptions options_;
  SpeechService* const service_;
  JobAdmin& store_;
  Dashboard* const dashboard_;
  LiveSessions& live_;
  const std::optional<SpeechEndpoint> endpoint_;
  const std::optional<RealtimeEndpoint> realtime_;
  const std::unique_ptr<JobEndpoint> jobs_;     // null: without a model there are none
  const std::unique_ptr<VoiceEndpoint> voice_;  // null: this server does not speak
  const ApiMethods methods_;
  HttpCounts counts_{};
  std::atomic<bool> draining_{false};
  RequestsInWork requests_{};
  AnswerThreads answering_{1, 64};  // metrics, which look at the store
};

}  // namespace tutti
