#include "public/tutti/whisper_model.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "audio/vad/speech.h"
#include "base/build_id.h"
#include "base/field_names.h"
#include "base/guarded.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/list/device_list.h"
#include "device/machine_devices.h"
#include "hub/find.h"
#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "jobs/history.h"
#include "transcribe/service/speech_service.h"
#include "transcribe/speech_chunks.h"

namespace tutti {
namespace {

/// An embedding program has no store: each load measures the devices again.
class NoHistory final : public RunHistory {
 public:
  Result<RunId> begin_run(const RunStart&) override { return RunId{}; }
  Result<void> end_run(RunId, const RunEnd&) override { return {}; }
  Result<void> report_run(RunId, const std::string&) override { return {}; }
  Result<std::vector<RunRecord>> runs_seen(StoreTime) override { return std::vector<RunRecord>(); }
  Result<std::vector<RunRecord>> runs(std::size_t) override { return std::vector<RunRecord>(); }
  Result<void> record_speed(const SpeedRecord&) override { return {}; }
  Result<std::vector<SpeedRecord>> speeds(bool) override { return std::vector<SpeedRecord>(); }
  Result<void> record_event(const DeviceEvent&) override { return {}; }
  Result<std::vector<DeviceEvent>> events(StoreTime) override { return std::vector<DeviceEvent>(); }
};

/// What a request has come to: its listener writes it, its caller reads it.
struct Progress {
  std::optional<Seconds> duration{};
  std::optional<Seconds> speech{};
  std::optional<SpokenLanguage> spoken{};
  std::deque<Segment> segments{};  // that `next` has not returned
  std::optional<Result<Transcript>> end{};
};

/// The request has it as long as it is there: it must not have the request.
struct ProgressListener final : SpeechListener {
  void on_audio(Seconds duration) override {
    progress.change([&](Progress& now) { now.duration = duration; });
  }
  void on_speech(Seconds speech) override {
    progress.change([&](Progress& now) { now.speech = speech; });
  }
  void on_language(const SpokenLanguage& spoken) override {
    progress.change([&](Progress& now) { now.spoken = spoken; });
  }
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
};

constexpr Seconds kLookEvery{0.1};  // whether the caller still waits

tl::unexpected<Error> left() {
  return fail(Fault::cancelled, "its caller no longer waits");
}

/// Waits until `ready`, then yields what `take` makes of it.
template <class Ready, class Take>
auto wait(ProgressListener& listener, const GoOn& go_on, const Ready& ready, const Take& take)
    -> decltype(take(std::declval<Progress&>())) {
  while (go_on && !listener.progress.wait_for(kLookEvery, ready))
    if (!go_on()) return left();
  return listener.progress.wait(ready, take);
}

/// Of numbers that cannot be intended; what the devices cannot do is their workers' to refuse.
Result<void> check(const WhisperModelOptions& options) {
  const auto expect_none_below_zero = [](const char* name, std::int32_t value) -> Result<void> {
    if (value >= 0) return {};
    return fail(Fault::usage, field(name) + " " + std::to_string(value) + ": expected 0 or more");
  };
  if (auto threads = expect_none_below_zero("threads", options.threads); !threads) return threads;
  if (auto batch = expect_none_below_zero("batch_size", options.batch_size); !batch) return batch;
  if (std::ranges::find(kComputeTypes, options.compute_type) == kComputeTypes.end())
    return fail(Fault::usage, field("compute_type") + ": expected " + joined(kComputeTypes, ", ") + ", found '" +
                                  options.compute_type + "'");
  if (options.longest <= Seconds(0)) return fail(Fault::usage, field("longest") + ": expected more than 0 seconds");
  return {};
}

}  // namespace

struct Transcription::State {
  std::shared_ptr<ProgressListener> listener = std::make_shared<ProgressListener>();
  std::shared_ptr<SpeechTicket> ticket{};  // null: it was refused
};

Transcription::Transcription(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transcription::Transcription(Transcription&&) noexcept = default;

Transcription& Transcription::operator=(Transcription&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Transcription::~Transcription() {
  if (state_) cancel();
}

Result<RecordingFacts> Transcription::facts(const GoOn& go_on) {
  return wait(
      *state_->listener, go_on, [](const Progress& now) { return (now.duration && now.spoken) || now.end; },
      [](const Progress& now) -> Result<RecordingFacts> {
        if (now.duration && now.spoken)
          return RecordingFacts{*now.duration, now.speech.value_or(*now.duration), *now.spoken};
        if (!*now.end) return tl::unexpected<Error>(now.end->error());
        // Nothing was to be transcribed, so that no language was detected.
        const Seconds duration = now.duration.value_or(Seconds(0));
        return RecordingFacts{duration, now.speech.value_or(duration), {.language = {(*now.end)->language, 0}}};
      });
}

Result<std::optional<Segment>> Transcription::next(const GoOn& go_on) {
  return wait(
      *state_->listener, go_on, [](const Progress& now) { return !now.segments.empty() || now.end; },
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

Result<Transcript> Transcription::whole(const GoOn& go_on) {
  return wait(
      *state_->listener, go_on, [](const Progress& now) { return now.end.has_value(); },
      [](const Progress& now) { return *now.end; });
}

void Transcription::cancel() {
  if (state_->ticket) state_->ticket->cancel();
}

struct WhisperTranscriber::Parts {
  NoHistory history{};
  std::unique_ptr<SpeechService> service{};
  bool is_keyed = false;  // its model is of Morse
};

WhisperTranscriber::WhisperTranscriber(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WhisperTranscriber::WhisperTranscriber(WhisperTranscriber&&) noexcept = default;
WhisperTranscriber& WhisperTranscriber::operator=(WhisperTranscriber&&) noexcept = default;
WhisperTranscriber::~WhisperTranscriber() = default;

Result<WhisperTranscriber> WhisperTranscriber::load(const WhisperModelOptions& options, const GoOn& go_on) {
  TRY(check(options));
  const auto model = TRY(find_model(options.model, ModelFolders::from_environment()));
  const auto listed = TRY(parse_device_list(options.devices));
  auto devices = TRY(choose_devices(listed, find_devices()));
  SpeechServiceOptions service{.longest = options.longest};
  service.pool.devices = std::move(devices);
  service.pool.run.build_id = build_id();
  service.pool.run.model = model;
  service.pool.run.compute_type = options.compute_type;
  service.pool.run.threads = options.threads;
  service.pool.run.batch_size = options.batch_size;
  auto parts = std::make_unique<Parts>();
  parts->service = TRY(SpeechService::start(service, parts->history));
  parts->is_keyed = is_keyed(model);
  while (go_on && !parts->service->ready() && !parts->service->over()) {
    if (!go_on()) return left();
    std::this_thread::sleep_for(kLookEvery);
  }
  TRY(parts->service->wait_until_ready());
  return WhisperTranscriber(std::move(parts));
}

std::vector<std::string> WhisperTranscriber::languages() const {
  return parts_->service->languages();
}

Transcription WhisperTranscriber::transcribe(RecordingInput recording, SpeechOptions options) {
  auto state = std::make_unique<Transcription::State>();
  if (parts_->is_keyed && !options.vad)
    options.vad = VadOptions{.method = VadMethod::keying, .min_silence_duration_ms = kKeyedSilenceMs};
  fit_keying(options, parts_->is_keyed);
  if (const auto checked = options.vad ? check(*options.vad) : Result<void>(); !checked) {
    state->listener->failed(checked.error());
    return Transcription(std::move(state));
  }
  SpeechRequest request{.name = recording.name(), .options = std::move(options), .listener = state->listener};
  request.audio = std::move(recording).take_file();
  state->ticket = parts_->service->submit(std::move(request));
  return Transcription(std::move(state));
}

}  // namespace tutti
