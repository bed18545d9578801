#include "transcribe/service/speech_run.h"

#include <utility>

#include "base/log.h"
#include "base/new_file.h"
#include "base/try.h"
#include "transcribe/pool/pooled_recording.h"
#include "view/text.h"

namespace tutti {
namespace {

tl::unexpected<Error> cancelled_error() {
  return fail(Fault::cancelled, "the request was cancelled");
}

}  // namespace

void SpeechRun::cancel() {
  cancelled_ = true;
  engine_.with([](JobEngine* engine) {
    if (engine) engine->cancel();
  });
}

JobStatus SpeechRun::status() const {
  JobStatus status{.id = id_, .name = request_.name, .done = Seconds(position_.load()), .client = request_.client};
  status.device = engine_.with([](JobEngine* engine) { return engine ? engine->where() : std::string(); });
  if (length_ > 0) status.length = Seconds(length_.load());
  if (length_ <= 0) status.waiting_for = fetched_ ? "its audio is decoded" : "its recording is fetched";
  if (length_ > 0 && status.device.empty()) status.waiting_for = "capacity on a device";
  return status;
}

Result<void> SpeechRun::begin(const ModelContext& model) {
  auto fitted = TRY(model.fit(request_.options));
  job_.remarks = fitted.remarks;
  fitted_ = std::move(fitted);
  if (request_.fetch) {
    auto file = request_.fetch([this] { return !cancelled_.load(); });
    if (cancelled_) return cancelled_error();
    if (!file) return tl::unexpected<Error>(file.error());
    fetched_audio_ = std::move(*file);
  }
  fetched_ = true;
  return {};
}

Result<DecodedFile> SpeechRun::decode() {
  if (cancelled_) return cancelled_error();
  request_.listener->on_fetched();
  auto decoded = job_.decode({.index = number_, .input = request_.name});
  if (decoded) decoded = job_.detect_speech(std::move(*decoded));
  if (cancelled_) return cancelled_error();
  if (decoded && request_.options.vad)
    request_.listener->on_speech(length_of(
        samples_of(speech_pieces(decoded->speech, decoded->recording.samples(), *request_.options.vad)), kModelRate));
  if (decoded && fitted_.rules.language) on_language_({.language = {*fitted_.rules.language, 1}});
  return decoded;
}

Result<TranscribedFile> SpeechRun::transcribe(DecodedFile decoded, DevicePool& pool, const ModelContext& model,
                                              Seconds now) {
  const PoolJob job{.id = number_,
                    .audio = decoded.recording.duration(),
                    .kind = request_.urgency,
                    .priority = request_.priority,
                    .queued_at = now};
  PooledRecording pooled(pool, job);
  engine_.with([&](JobEngine*& current) { current = &pooled.engine(); });
  if (cancelled_) pooled.engine().cancel();
  context_.emplace(model.context(pooled.engine(), request_.options, fitted_, on_progress_, /*rationed=*/true));
  context_->windows.on_language = &on_language_;
  auto file = job_.transcribe_here(std::move(decoded));
  engine_.with([](JobEngine*& current) { current = nullptr; });
  if (cancelled_) return cancelled_error();
  return file;
}

Result<FetchedAudio> SpeechRun::fetch(const ClaimedFile&) {
  const int file = fetched_audio_ ? fetched_audio_.get() : request_.audio.get();
  return FetchedAudio{path_of_descriptor(file)};
}

Result<Recording> SpeechRun::decoded(std::size_t, const Decode& decode) {
  auto recording = decode();
  if (!recording) return recording;
  for (const std::string& remark : recording->remarks()) log(Level::warning, request_.name + ": " + remark);
  return recording;
}

Result<void> SpeechRun::on_decoding(std::size_t, Seconds decoded) {
  if (decoded <= longest_) return {};
  return fail(Fault::refused,
              request_.name + ": it lasts longer than the " + length_text(longest_) + " that this server takes");
}

Result<void> SpeechRun::on_audio_decoded(std::size_t, Seconds length) {
  length_ = length.count();
  request_.listener->on_audio(length);
  return {};
}

}  // namespace tutti
