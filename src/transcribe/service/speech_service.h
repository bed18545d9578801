#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/job_class.h"
#include "base/owned.h"
#include "base/units.h"
#include "jobs/history.h"
#include "metrics/prometheus.h"
#include "transcribe/file_transcription.h"
#include "transcribe/live/live_stream.h"
#include "transcribe/pool/pool_options.h"
#include "transcribe/run.h"
#include "transcribe/spoken_language.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// Receives what becomes of a request. Calls but on_revoked come from one thread at a time, and none after done or
/// failed.
class SpeechListener {
 public:
  virtual ~SpeechListener() = default;
  /// Its bytes are there, and its audio is being decoded.
  virtual void on_fetched() {}
  /// Its audio is decoded and lasts so long.
  virtual void on_audio(Seconds /*duration*/) {}
  /// With VAD: so much of it is speech.
  virtual void on_speech(Seconds /*speech*/) {}
  /// The language it is transcribed in, before its first segment.
  virtual void on_language(const SpokenLanguage& /*spoken*/) {}
  /// New segments, in order, and how far into the recording the transcript reaches.
  virtual void on_segments(Seconds /*position*/, const std::vector<Segment>& /*fresh*/) {}
  /// An operator has cancelled it, and it fails soon: it is not to be tried again. From any thread.
  virtual void on_revoked() {}
  virtual void done(TranscribedFile file) = 0;
  /// Fault::cancelled: it was cancelled, or the service ends.
  virtual void failed(const Error& error) = 0;
};

/// A recording to be transcribed.
struct SpeechRequest {
  /// Opens its audio, a regular file, when its turn has come. It returns soon after `go_on` has returned false.
  using Fetch = std::function<Result<OwnedFd>(const std::function<bool()>& go_on)>;

  OwnedFd audio{};  // a regular file; none: `fetch` has it
  Fetch fetch{};
  std::string id{};    // what the status calls it; empty: a name of its own
  std::string name{};  // what people call it, for messages
  SpeechOptions options{};
  std::string client{};  // requests of one client wait for each other's turns
  JobClass urgency = JobClass::interactive;
  int priority = 0;  // higher first, within its class
  std::shared_ptr<SpeechListener> listener{};
};

/// A request that was handed in.
class SpeechTicket {
 public:
  virtual ~SpeechTicket() = default;
  /// Its client has left: what it waits for ends now, and its windows on the devices are free at once.
  virtual void cancel() = 0;
};

/// How the requests are doing.
struct SpeechLoad {
  std::size_t running = 0;
  std::size_t waiting = 0;
  Seconds audio_done{};  // audio transcribed since the start; of requests in work what is done of it
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t cancelled = 0;
  std::size_t with_losses = 0;  // of those done: audio was missing
  Seconds expected_wait{};      // wait of a new request, by those that ended lately
};

struct SpeechServiceOptions {
  PoolOptions pool{};
  std::filesystem::path state{};  // the store's folder, for the status
  Seconds longest{12 * 3600};     // that a recording may last
};

/// What people see of a service, and steer in it. Thread-safe.
class ServiceControl {
 public:
  virtual ~ServiceControl() = default;
  /// Devices and requests as `tutti top` shows those of a batch. Requests that wait come behind those in work, and no
  /// more of them than people look at.
  virtual FleetStatus status() const = 0;
  /// For Prometheus: requests by state and outcome, audio, and how long requests took, waited, and had the devices.
  virtual std::vector<MetricSnapshot> metrics() const = 0;
  /// Cancels a request by its id in the status. False, here and below: there is none.
  virtual bool cancel(const std::string& id) = 0;
  virtual bool drain(const std::string& device) = 0;
  virtual bool resume(const std::string& device) = 0;
  /// Why no device takes work until an operator resumes one; none: one does, or will again by itself.
  virtual std::optional<std::string> held() const = 0;
};

/// Transcribes requests on all devices of a pool: all that wait share the devices' batches. Owns the
/// workers and a thread for every request in work. Thread-safe.
class SpeechService {
 public:
  /// Returns without waiting for a worker. `history` has the devices' speeds and outlives the service.
  static Result<std::unique_ptr<SpeechService>> start(const SpeechServiceOptions& options, RunHistory& history);
  virtual ~SpeechService() = default;

  /// A model is loaded, and a device is in service.
  virtual bool ready() const = 0;
  /// Waits until that is so; the error names why it will not be.
  virtual Result<void> wait_until_ready() = 0;
  /// Codes of the languages that the loaded model knows; empty: English alone, or none is loaded.
  virtual std::vector<std::string> languages() const { return {}; }
  /// Why it can never be again; nothing while it can.
  virtual std::optional<Error> over() = 0;
  virtual std::shared_ptr<SpeechTicket> submit(SpeechRequest request) = 0;
  /// Live audio on the same devices, at once. `listener` outlives the stream, and the service, too. Errors are those of
  /// LiveStream::start; Fault::unavailable while no model is loaded.
  virtual Result<std::unique_ptr<LiveStream>> listen(const SpeechOptions& options, CaptionListener& listener) = 0;
  virtual SpeechLoad load() const = 0;
  /// So many requests that are not interactive are in work at once.
  virtual std::size_t bulk_at_once() const = 0;
  virtual ServiceControl& control() = 0;
  /// Waits until nothing waits or runs, but no longer than `most`. False: something still does.
  virtual bool wait_until_idle(Seconds most) = 0;
  /// Cancels everything and waits until no listener is called any more; later requests fail at once. One thread.
  virtual void stop() = 0;
};

}  // namespace tutti
