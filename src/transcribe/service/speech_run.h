#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/guarded.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/service/speech_service.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// How many recordings are decoded at once: each takes a core. Bulk leaves one of them to interactive requests.
/// Thread-safe.
class DecodePermits {
 public:
  explicit DecodePermits(int cores) : most_(cores + 1), most_bulk_(std::max(1, cores - 1)) {}

  /// Waits for one; false: `cancelled` came first (wake() makes it look).
  bool take(JobClass urgency, const std::atomic<bool>& cancelled);
  void release(JobClass urgency);
  void wake() {
    taken_.change([](Taken&) {});
  }

 private:
  struct Taken {
    int all = 0;
    int bulk = 0;
  };
  const int most_;
  const int most_bulk_;
  Guarded<Taken> taken_{};
};

/// What all requests share. Outlives them.
struct SpeechParts {
  DevicePool& pool;
  DecodePermits& permits;
  Seconds longest{};
  std::function<Seconds()> pool_time;  // now, by the pool's clock
};

/// One request on its way from its bytes to its transcript.
class SpeechRun {
 public:
  /// `number`: of this service's requests, by which the pool knows it.
  SpeechRun(std::uint64_t number, SpeechRequest request)
      : number_(number),
        id_(request.id.empty() ? "request-" + std::to_string(number) : request.id),
        request_(std::move(request)) {}

  const SpeechRequest& request() const { return request_; }
  const std::string& id() const { return id_; }
  /// Blocks until it is done; Fault::cancelled soon after `cancel`.
  Result<TranscribedFile> transcribe(const SpeechParts& parts, const ModelContext& model);
  /// From any thread, at any time.
  void cancel();
  bool cancelled() const { return cancelled_; }
  /// As it is now, for people.
  JobStatus status() const;

  const Clock::Instant submitted = Clock::real().now();

 private:
  Result<DecodedFile> decode(const SpeechParts& parts);
  Result<Recording> decode_file(int file, const SpeechParts& parts);
  Result<TranscribedFile> serve_windows(DecodedFile decoded, const SpeechParts& parts, const ModelContext& model,
                                        const FittedOptions& fitted);

  const std::uint64_t number_;
  const std::string id_;
  const SpeechRequest request_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> fetched_{false};
  Guarded<JobEngine*> engine_{nullptr};  // while its windows are served
  std::atomic<double> length_{0};        // seconds of its audio; 0: it is not decoded yet
  std::atomic<double> position_{0};      // that are transcribed
};

}  // namespace tutti
