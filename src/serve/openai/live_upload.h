#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "audio/pcm_stream.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "serve/http/form.h"
#include "serve/openai/speech_answer.h"
#include "serve/realtime/live_sessions.h"
#include "transcribe/live/captions.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// Whether an upload is of audio that is being spoken: a WAV of which no more comes than is spoken. One thread.
class UploadRate {
 public:
  /// `now`: seconds since the file began. Reads its header once there is one.
  bool is_live(const Upload& upload, Seconds now);

 private:
  std::optional<std::int64_t> bytes_a_second_{};
  bool is_other_ = false;  // no WAV
};

/// A WAV that is transcribed while it is still uploaded: a thread reads the file as it grows, and events of the text go
/// to the client meanwhile. A client that leaves ends it.
class LiveUpload final : private CaptionListener, private LiveClient {
 public:
  /// `head` begins the answer; `file`: another descriptor of the file that grows; `admission`: its own among the live
  /// streams. Errors are those of SpeechService::listen. `service` outlives it.
  static Result<std::unique_ptr<LiveUpload>> start(SpeechService& service, SpeechForm form, OwnedFd file,
                                                   std::shared_ptr<HttpExchange> exchange, HttpAnswer head,
                                                   std::shared_ptr<LiveSessions::Admission> admission);
  LiveUpload(const LiveUpload&) = delete;
  LiveUpload& operator=(const LiveUpload&) = delete;
  ~LiveUpload() override;

  /// So many bytes are in the file by now.
  void grew(std::uint64_t size);
  /// The file is complete. An error: what else is wrong with the form.
  void complete(const std::optional<ApiError>& problem);
  /// Its client has left: what it has in work ends soon.
  void abandon();
  /// Its destructor waits for nothing.
  bool is_over() const { return over_; }

 private:
  struct File {
    std::uint64_t size = 0;
    bool complete = false;
    bool abandoned = false;
  };

  LiveUpload(SpeechForm form, OwnedFd file, std::shared_ptr<HttpExchange> exchange,
             std::shared_ptr<LiveSessions::Admission> admission);
  void on_partial(const Caption&) override {}
  void on_final(const Caption& caption) override;
  void on_end(const Result<void>& end) override;
  void finish(LiveEnd /*why*/) override { complete(std::nullopt); }

  void run();
  Result<void> read();
  void fail_with(const ApiError& error);

  const SpeechForm form_;
  const OwnedFd fd_;
  const std::shared_ptr<HttpExchange> exchange_;
  const std::shared_ptr<LiveSessions::Admission> admission_;
  Guarded<File> file_{};
  SpeechEvents events_{form_};
  CaptionSegments segments_{};
  Guarded<bool> has_ended_{false};  // its events
  Seconds duration_{};
  std::vector<std::string> losses_{};
  std::atomic<bool> over_{false};
  std::unique_ptr<LiveStream> stream_{};
  std::jthread reading_{};
};

}  // namespace tutti
