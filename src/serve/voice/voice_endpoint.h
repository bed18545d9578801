#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "metrics/prometheus.h"
#include "serve/answer_threads.h"
#include "serve/http/http.h"
#include "serve/voice/voice_service.h"

namespace tutti {

/// Audio as OpenAI's events: speech.audio.delta with its base64 in pieces, and speech.audio.done with a usage that
/// counts the characters of `text`.
std::string speech_events(std::string_view audio, const std::string& text);

/// POST /v1/audio/speech: a text as audio, whole. A client that leaves ends its work. Thread-safe.
class VoiceEndpoint {
 public:
  using Begun = std::variant<HttpAnswer, std::unique_ptr<HttpBody>>;

  explicit VoiceEndpoint(VoiceService voice) : voice_(std::move(voice)) {}
  /// Ends what is in work.
  ~VoiceEndpoint() { over_ = true; }
  VoiceEndpoint(const VoiceEndpoint&) = delete;
  VoiceEndpoint& operator=(const VoiceEndpoint&) = delete;

  const ModelNames& names() const { return voice_.names(); }
  Begun begin(const HttpHead& head, bool draining);
  /// For Prometheus: requests in work and waiting, and those that ended, by outcome.
  std::vector<MetricSnapshot> metrics() const;
  /// Nothing waits or is in work.
  bool idle() const { return in_work_ == 0; }

 private:
  class Body;

  /// `gone`: the client has left.
  void speak_later(VoiceRequest request, std::shared_ptr<std::atomic<bool>> gone,
                   const std::shared_ptr<HttpExchange>& exchange);
  HttpAnswer speak(const VoiceRequest& request, const std::atomic<bool>& gone);

  const VoiceService voice_;
  std::atomic<std::size_t> in_work_{0};
  std::atomic<std::uint64_t> done_{0}, failed_{0}, characters_{0};
  std::atomic<bool> over_{false};
  AnswerThreads speaking_{2, 64};  // each uses all cores
};

}  // namespace tutti
