#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/pcm_stream.h"
#include "base/guarded.h"
#include "base/json.h"
#include "serve/http/http.h"
#include "serve/openai/api_error.h"
#include "serve/realtime/live_sessions.h"
#include "serve/realtime/realtime_settings.h"
#include "transcribe/live/captions.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// What the sessions share. Outlives them.
struct RealtimeEndpoint {
  SpeechService& service;
  const ModelNames& models;
  const SpeechOptions& usual;  // where a session has no setting for it
};

/// One client of /v1/realtime?intent=transcription: OpenAI's events over live audio (docs/live.md). Its text is fixed
/// as it is spoken, so deltas come before the item is committed; what may still change has an event of ours.
class RealtimeSession final : public SocketSession, private CaptionListener, private LiveClient {
 public:
  /// `admission`: its own among the live streams.
  RealtimeSession(const RealtimeEndpoint& endpoint, std::string id, std::shared_ptr<LiveSessions::Admission> admission);
  RealtimeSession(const RealtimeSession&) = delete;
  RealtimeSession& operator=(const RealtimeSession&) = delete;
  ~RealtimeSession() override;

  void begin(std::shared_ptr<SocketExchange> exchange) override;
  bool take(std::string_view message, bool is_text) override;
  void gone() override;
  bool is_over() const override;

 private:
  /// The stretch of audio whose text is being made.
  struct Item {
    std::uint64_t last = 0;  // number of the last item, the open one included; the first is 1
    bool is_open = false;
    std::string transcript{};
    double start = 0;  // seconds
    double end = 0;    // of its final text
  };
  struct Live {
    std::unique_ptr<LiveStream> stream{};  // none: no audio has come
    bool ends = false;                     // nothing is taken any more
  };

  void on_speech_started(double at) override;
  void on_partial(const Caption& caption) override;
  void on_final(const Caption& caption) override;
  void on_settled(double at, bool is_requested) override;
  void on_end(const Result<void>& end) override;
  void finish(LiveEnd why) override;

  void send(nlohmann::ordered_json event);
  void send_error(const ApiError& error, const std::string& event_id);
  std::optional<ApiError> handle(const nlohmann::json& event);
  std::optional<ApiError> update(const std::string& type, const nlohmann::json& session);
  std::optional<ApiError> append(const nlohmann::json& audio);
  std::optional<ApiError> commit();
  std::optional<ApiError> start_stream();
  /// Hands over the samples that wait. False: not now.
  bool offer();
  std::string item_id(std::uint64_t number) const { return "item_" + id_ + "_" + std::to_string(number); }
  /// The item that text belongs to; opens one at `at` where there is none.
  std::string open_item(double at);
  void complete_item(double at);
  void close_ended();

  const RealtimeEndpoint& endpoint_;
  const std::string id_;
  const std::shared_ptr<LiveSessions::Admission> admission_;
  std::shared_ptr<SocketExchange> exchange_{};
  std::atomic<std::uint64_t> events_{0};

  // The network's thread's.
  RealtimeSettings settings_{};
  std::unique_ptr<PcmStream> pcm_{};
  std::vector<std::int16_t> waiting_{};  // samples of a message that could not be taken yet
  bool has_audio_ = false;               // since the last commit

  std::atomic<bool> detects_turns_{true};
  Item item_{};  // the stream's thread's
  std::atomic<LiveEnd> why_ended_{LiveEnd::server_stops};
  Guarded<Live> live_{};  // its stream calls this, and goes first
};

}  // namespace tutti
