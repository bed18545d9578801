#include "public/tutti/whisper_model.h"

#include <deque>
#include <utility>
#include <vector>

#include "base/build_id.h"
#include "base/field_names.h"
#include "base/guarded.h"
#include "device/list/device_list.h"
#include "device/machine_devices.h"
#include "hub/find.h"
#include "jobs/history.h"
#include "transcribe/service/speech_service.h"

namespace tutti {
namespace {

/// An embedding program has no store: each load measures the devices again.
class NoHistory final : public RunHistory {
 public:
  Result<RunId> begin_run(const RunStart&) override { return RunId{}; }
  Result<void> end_run(RunId, const RunEnd&) override { return {}; }
  Result<std::vector<RunRecord>> runs(std::size_t) override { return std::vector<RunRecord>(); }
  Result<void> record_speed(const SpeedRecord&) override { return {}; }
  Result<std::vector<SpeedRecord>> speeds(bool) override { return std::vector<SpeedRecord>(); }
  Result<void> record_event(const DeviceEvent&) override { return {}; }
  Result<std::vector<DeviceEvent>> events(StoreTime) override { return std::vector<DeviceEvent>(); }
};

/// What a request has come to: its listener writes it, its caller reads it.
struct Progress {
  std::deque<Segment> segments{};  // that `next` has not returned
  std::optional<Result<Transcript>> end{};
};

}  // namespace

struct Transcription::State final : SpeechListener {
  void on_segments(Seconds, const std::vector<Segment>& fresh) override {
    progress.change([&](Progress& now) { now.segments.insert(now.segments.end(), fresh.begin(), fresh.end()); });
  }
  void done(TranscribedFile file) override {
    progress.change([&](Progress& now) { now.end = std::move(file.transcript); });
  }
  void failed(const Error& error) override {
    progress.change([&](Progress& now) { now.end = tl::unexpected<Error>(error); });
  }

  Guarded<Progress> progress{};
  std::shared_ptr<SpeechTicket> ticket{};
};

Transcription::Transcription(std::shared_ptr<State> state) : state_(std::move(state)) {}
Transcription::Transcription(Transcription&&) noexcept = default;

Transcription& Transcription::operator=(Transcription&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Transcription::~Transcription() {
  if (state_) cancel();
}

Result<std::optional<Segment>> Transcription::next() {
  return state_->progress.wait([](const Progress& now) { return !now.segments.empty() || now.end; },
                               [](Progress& now) -> Result<std::optional<Segment>> {
                                 if (!now.segments.empty()) {
                                   Segment first = std::move(now.segments.front());
                                   now.segments.pop_front();
                                   return first;
                                 }
                                 if (!*now.end) return tl::unexpected<Error>(now.end->error());
                                 return std::nullopt;
                               });
}

Result<Transcript> Transcription::whole() {
  return state_->progress.wait([](const Progress& now) { return now.end.has_value(); },
                               [](const Progress& now) { return *now.end; });
}

void Transcription::cancel() {
  state_->ticket->cancel();
}

struct WhisperTranscriber::Parts {
  NoHistory history{};
  std::unique_ptr<SpeechService> service{};
};

WhisperTranscriber::WhisperTranscriber(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WhisperTranscriber::WhisperTranscriber(WhisperTranscriber&&) noexcept = default;
WhisperTranscriber& WhisperTranscriber::operator=(WhisperTranscriber&&) noexcept = default;
WhisperTranscriber::~WhisperTranscriber() = default;

Result<WhisperTranscriber> WhisperTranscriber::load(const WhisperModelOptions& options) {
  const auto model = find_model(options.model, ModelFolders::from_environment());
  if (!model) return tl::unexpected<Error>(model.error());
  const auto listed = parse_device_list(options.devices);
  if (!listed) return tl::unexpected<Error>(listed.error());
  auto devices = choose_devices(*listed, find_devices());
  if (!devices) return tl::unexpected<Error>(devices.error());
  SpeechServiceOptions service{.longest = options.longest};
  service.pool.devices = std::move(*devices);
  service.pool.run.build_id = build_id();
  service.pool.run.model = *model;
  service.pool.run.compute_type = options.compute_type;
  service.pool.run.threads = options.threads;
  service.pool.run.batch_size = options.batch_size;
  auto parts = std::make_unique<Parts>();
  auto started = SpeechService::start(service, parts->history);
  if (!started) return tl::unexpected<Error>(started.error());
  parts->service = std::move(*started);
  if (auto ready = parts->service->wait_until_ready(); !ready) return tl::unexpected<Error>(ready.error());
  return WhisperTranscriber(std::move(parts));
}

Transcription WhisperTranscriber::transcribe(RecordingInput recording, SpeechOptions options) {
  auto state = std::make_shared<Transcription::State>();
  SpeechRequest request{.name = recording.name(), .options = std::move(options), .listener = state};
  request.audio = std::move(recording).take_file();
  state->ticket = parts_->service->submit(std::move(request));
  return Transcription(std::move(state));
}

}  // namespace tutti
