#include "transcribe/service/speech_run.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "transcribe/work.h"
#include "view/text.h"

namespace tutti {
namespace {

tl::unexpected<Error> cancelled_error() {
  return fail(Fault::cancelled, "the request was cancelled");
}

/// Makes the errors of a descriptor's path those of the recording, by the name that its client knows.
Error renamed(Error error, const std::string& path, const std::string& name) {
  if (const auto at = error.what.find(path); at != std::string::npos) error.what.replace(at, path.size(), name);
  return error;
}

/// A permit to decode, as long as it is there.
class Permit {
 public:
  Permit(DecodePermits& permits, JobClass urgency) : permits_(permits), urgency_(urgency) {}
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit() { permits_.release(urgency_); }

 private:
  DecodePermits& permits_;
  const JobClass urgency_;
};

/// A job of the pool, as long as it is there.
class JobOfPool {
 public:
  JobOfPool(DevicePool& pool, const PoolJob& job) : pool_(pool), id_(job.id) { pool_.add_job(job); }
  JobOfPool(const JobOfPool&) = delete;
  JobOfPool& operator=(const JobOfPool&) = delete;
  ~JobOfPool() { pool_.end_job(id_); }

 private:
  DevicePool& pool_;
  const std::uint64_t id_;
};

}  // namespace

bool DecodePermits::take(JobClass urgency, const std::atomic<bool>& cancelled) {
  const bool bulk = urgency != JobClass::interactive;
  const auto free = [&](const Taken& taken) { return taken.all < most_ && (!bulk || taken.bulk < most_bulk_); };
  return taken_.wait([&](const Taken& taken) { return cancelled || free(taken); },
                     [&](Taken& taken) {
                       if (cancelled) return false;
                       ++taken.all;
                       taken.bulk += bulk ? 1 : 0;
                       return true;
                     });
}

void DecodePermits::release(JobClass urgency) {
  taken_.change([&](Taken& taken) {
    --taken.all;
    taken.bulk -= urgency != JobClass::interactive ? 1 : 0;
  });
}

void SpeechRun::cancel() {
  cancelled_ = true;
  engine_.with([](JobEngine* engine) {
    if (engine) engine->cancel();
  });
}

JobStatus SpeechRun::status() const {
  JobStatus status{.id = id_, .name = request_.name, .done = Seconds(position_.load())};
  status.device = engine_.with([](JobEngine* engine) { return engine ? engine->where() : std::string(); });
  if (length_ > 0) status.length = Seconds(length_.load());
  if (length_ <= 0) status.waiting_for = fetched_ ? "its audio is decoded" : "its recording is fetched";
  if (length_ > 0 && status.device.empty()) status.waiting_for = "capacity on a device";
  return status;
}

Result<Recording> SpeechRun::decode_file(int file, const SpeechParts& parts) {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  bool too_long = false;
  const auto goes_on = [&](Seconds decoded) {
    too_long = decoded > parts.longest;
    return !cancelled_ && !too_long;
  };
  auto recording = decode_recording(path, goes_on, {}, request_.options.audio);
  if (too_long)
    return fail(Fault::refused,
                request_.name + ": it lasts longer than the " + length_text(parts.longest) + " that this server takes");
  if (cancelled_) return cancelled_error();
  if (!recording) return tl::unexpected<Error>(renamed(recording.error(), path, request_.name));
  return recording;
}

Result<DecodedFile> SpeechRun::decode(const SpeechParts& parts) {
  OwnedFd fetched;
  if (request_.fetch) {
    auto file = request_.fetch([this] { return !cancelled_.load(); });
    if (cancelled_) return cancelled_error();
    if (!file) return tl::unexpected<Error>(file.error());
    fetched = std::move(*file);
  }
  fetched_ = true;
  if (!parts.permits.take(request_.urgency, cancelled_)) return cancelled_error();
  const Permit permit(parts.permits, request_.urgency);
  request_.listener->on_fetched();
  const auto started = Clock::real().now();
  auto recording = decode_file(fetched ? fetched.get() : request_.audio.get(), parts);
  if (!recording) return tl::unexpected<Error>(recording.error());
  length_ = recording->duration().count();
  for (const std::string& remark : recording->remarks()) log(Level::warning, request_.name + ": " + remark);
  request_.listener->on_audio(recording->duration());
  DecodedFile decoded{.index = number_, .input = request_.name, .started = started, .recording = std::move(*recording)};
  decoded.spent.audio = Clock::real().now() - started;
  if (!request_.options.vad) return decoded;
  const auto listening = Clock::real().now();
  auto speech = speech_probabilities(decoded.recording, request_.options.vad->method,
                                     [&](Seconds) { return !cancelled_.load(); });
  if (cancelled_) return cancelled_error();
  if (!speech) return tl::unexpected<Error>(speech.error());
  decoded.speech = std::move(*speech);
  decoded.spent.listening = Clock::real().now() - listening;
  return decoded;
}

Result<TranscribedFile> SpeechRun::serve_windows(DecodedFile decoded, const SpeechParts& parts,
                                                 const ModelContext& model, const FittedOptions& fitted) {
  const PoolJob job{.id = number_,
                    .audio = decoded.recording.duration(),
                    .kind = request_.urgency,
                    .priority = request_.priority,
                    .queued_at = parts.pool_time()};
  const JobOfPool known(parts.pool, job);
  const auto engine = parts.pool.engine(job);
  engine_.with([&](JobEngine*& current) { current = engine.get(); });
  if (cancelled_) engine->cancel();
  const OnProgressOfFile on_progress = [&](std::size_t, Seconds position, const std::vector<Segment>& fresh) {
    position_ = position.count();
    if (!cancelled_) request_.listener->on_segments(position, fresh);
  };
  const auto context = model.context(*engine, request_.options, fitted, on_progress, /*rationed=*/true);
  std::optional<Result<TranscribedFile>> file;
  const auto prepared = prepare_work(std::move(decoded), context, cancelled_, [&](Work&& work) {
    auto done = transcribe_work(std::move(work), context);
    if (done) file = std::move(done);
    return !cancelled_;
  });
  engine_.with([](JobEngine*& current) { current = nullptr; });
  if (cancelled_) return cancelled_error();
  if (!prepared) return tl::unexpected<Error>(prepared.error());
  if (!file) return fail(Fault::internal, request_.name + ": its last window has no answer");
  return std::move(*file);
}

Result<TranscribedFile> SpeechRun::transcribe(const SpeechParts& parts, const ModelContext& model) {
  const auto fitted = model.fit(request_.options);
  if (!fitted) return tl::unexpected<Error>(fitted.error());
  auto decoded = decode(parts);
  if (!decoded) return tl::unexpected<Error>(decoded.error());
  auto file = serve_windows(std::move(*decoded), parts, model, *fitted);
  if (file) std::ranges::copy(fitted->remarks, std::back_inserter(file->outcome.notes));
  return file;
}

}  // namespace tutti
