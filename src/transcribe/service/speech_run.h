#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/guarded.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/recording_job.h"
#include "transcribe/service/speech_service.h"
#include "transcript/replace_text.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// One request on its way from its bytes to its transcript: the service calls `begin`, `decode` and `transcribe`, one
/// after the other. Each blocks, and yields Fault::cancelled soon after `cancel`.
class SpeechRun final : public RecordingSink {
 public:
  /// `number`: of this service's requests, by which the pool knows it. `longest`: that it may last.
  SpeechRun(std::uint64_t number, Seconds longest, SpeechRequest request)
      : number_(number),
        longest_(longest),
        id_(request.id.empty() ? "request-" + std::to_string(number) : request.id),
        request_(std::move(request)) {}

  const SpeechRequest& request() const { return request_; }
  const std::string& id() const { return id_; }

  /// Makes its options fit the model and opens its audio.
  Result<void> begin(const ModelContext& model);
  /// Decodes it and finds its speech, on a core of its own.
  Result<DecodedFile> decode();
  /// Has its windows served by the pool. `now`: by the pool's clock.
  Result<TranscribedFile> transcribe(DecodedFile decoded, DevicePool& pool, const ModelContext& model, Seconds now);
  /// From any thread, at any time.
  void cancel();
  bool cancelled() const { return cancelled_; }
  /// How far into its recording it is transcribed.
  Seconds position() const { return Seconds(position_.load()); }
  /// As it is now, for people.
  JobStatus status() const;

  // --- the steps of recording_job.h; it is the one recording
  Result<FetchedAudio> fetch(const ClaimedFile& file) override;
  Result<Recording> decoded(std::size_t index, const Decode& decode) override;
  Result<void> on_decoding(std::size_t index, Seconds decoded) override;
  Result<void> on_audio_decoded(std::size_t index, Seconds length) override;
  const TranscriptionContext* context(std::size_t) override { return &*context_; }

  const Clock::Instant submitted = Clock::real().now();

 private:
  const std::uint64_t number_;
  const Seconds longest_;
  const std::string id_;
  const SpeechRequest request_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> fetched_{false};
  Guarded<JobEngine*> engine_{nullptr};  // while its windows are served
  std::atomic<double> length_{0};        // seconds of its audio; 0: it is not decoded yet
  std::atomic<double> position_{0};      // that are transcribed
  // Of the thread that serves it.
  OwnedFd fetched_audio_{};
  FittedOptions fitted_{};
  std::optional<TranscriptionContext> context_{};
  const OnProgressOfFile on_progress_ = [this](std::size_t, Seconds position, const std::vector<Segment>& fresh) {
    position_ = position.count();
    if (!cancelled_)
      request_.listener->on_segments(position, with_replacements(fresh, request_.options.replacements.get()));
  };
  const OnLanguage on_language_ = [this](const SpokenLanguage& spoken) {
    if (!cancelled_) request_.listener->on_language(spoken);
  };
  RecordingJob job_{
      .sink = *this, .options = request_.options, .aborted = cancelled_, .is_wanted = [this] { return !cancelled_; }};
};

}  // namespace tutti
