#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "serve/access.h"
#include "serve/dashboard/dashboard.h"
#include "serve/http/http.h"
#include "serve/jobs/job_endpoint.h"
#include "serve/openai/model_names.h"
#include "serve/openai/speech_endpoint.h"
#include "serve/voice/voice_endpoint.h"
#include "transcribe/run.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

struct ApiOptions {
  Access access;
  std::optional<ModelNames> models{};                 // none: this server transcribes nothing
  SpeechOptions usual{};                              // options of requests that have no field for them
  std::uint64_t max_upload = std::uint64_t{2} << 30;  // bytes of a recording
  std::size_t most_waiting = 1024;                    // requests beyond those are sent away for a while
  std::optional<VoiceService> voice{};                // none: this server does not speak
};

/// Which request goes where. Decides by the head of a request alone, so that nothing is read for one that is refused.
class Api final : public HttpHandler {
 public:
  /// `service` transcribes for the options' model, and `jobs` are its; `dashboard` may be null: there is no page. They
  /// outlive it.
  Api(ApiOptions options, SpeechService* service, JobService* jobs, Dashboard* dashboard);

  std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) override;
  HttpAnswer refused(int status, std::string_view why) override;

  /// Nothing new is begun from now on, and /readyz answers 503.
  void drain() { draining_ = true; }
  /// Nothing is being spoken.
  bool idle() const { return !voice_ || voice_->idle(); }

 private:
  using Begun = std::variant<HttpAnswer, std::unique_ptr<HttpBody>>;

  HttpAnswer ready() const;
  Begun with_token(const HttpHead& head, std::size_t token);
  Begun of_model(const HttpHead& head, std::size_t token);
  Begun models(const HttpHead& head) const;
  Begun speech(const HttpHead& head, const std::string& client, bool translate);

  const ApiOptions options_;
  SpeechService* const service_;
  Dashboard* const dashboard_;
  const std::optional<SpeechEndpoint> endpoint_;
  const std::unique_ptr<JobEndpoint> jobs_;     // null: without a model there are none
  const std::unique_ptr<VoiceEndpoint> voice_;  // null: this server does not speak
  std::atomic<bool> draining_{false};
};

}  // namespace tutti
