#include "transcribe/recording_job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/new_file.h"
#include "base/try.h"
#include "diarize/word_speakers.h"
#include "transcribe/batch/disk_space_wait.h"
#include "transcribe/speakers/recording_speakers.h"
#include "transcript/replace_text.h"

namespace tutti {
namespace {

tl::unexpected<Error> stopped() {
  return fail(Fault::cancelled, "stopped");
}

/// Who speaks, by the engine of the recording's windows; of a recording with a channel for each, by those.
Result<FoundSpeakers> find_speakers_of(const RecordingJob& job, const DecodedFile& decoded, WindowEngine& engine) {
  const DiarizeOptions& options = *job.options.diarize;
  if (!options.by_channel) return find_recording_speakers(decoded.recording, engine, options, job.aborted);
  return find_channel_speakers(decoded.audio.path, job.options.audio, job.aborted);
}

Result<void> add_speakers(const RecordingJob& job, const DecodedFile& decoded, const TranscriptionContext& context,
                          TranscribedFile& file) {
  auto found = find_speakers_of(job, decoded, context.windows.engine);
  if (!found) return fail_in(decoded.input.string() + ": its speakers", found.error());
  if (const auto& voices = job.options.diarize->save_embeddings; !voices.empty())
    if (auto saved = save_voices(voices, decoded.input.string(), *found); !saved) return saved;
  const Tokenizer& tokenizer = context.windows.tokenizer;
  assign_speakers(file.transcript, found->turns, [&](std::int32_t token) { return tokenizer.bytes_of(token); });
  file.turns = std::move(found->turns);
  file.outcome.speakers = std::move(found->speakers);
  file.outcome.spent.speakers = Seconds(found->device_seconds);
  return {};
}

/// Makes an error about a file without a name of its own one about the recording.
Error renamed(Error error, const std::string& path, const std::string& name) {
  const auto at = path == name ? std::string::npos : error.what.find(path);
  if (at != std::string::npos) error.what.replace(at, path.size(), name);
  return error;
}

Result<Recording> decode_audio_of(const RecordingJob& job, const ClaimedFile& file, const FetchedAudio& audio) {
  Result<void> goes_on;
  auto recording = decode_recording(
      audio.path,
      [&](Seconds decoded) {
        goes_on = job.sink.on_decoding(file.index, decoded);
        return goes_on && !job.aborted;
      },
      {}, job.options.audio);
  TRY(goes_on);
  if (!recording) return tl::unexpected(renamed(recording.error(), audio.path.string(), file.input.string()));
  return recording;
}

}  // namespace

FetchedAudio audio_in(OwnedFd file) {
  auto path = path_of_descriptor(file.get());
  return {std::move(path), std::move(file)};
}

Result<FetchedAudio> fetch_audio(DiskSpaceWait& spool, const std::function<Result<void>(int file)>& fetch) {
  constexpr Bytes kNotKnown{0};
  return spool.retry_until_written(kNotKnown, [&]() -> Result<FetchedAudio> {
    auto file = TRY(open_unnamed_file());
    TRY(fetch(file.get()));
    return audio_in(std::move(file));
  });
}

Result<DecodedFile> RecordingJob::decode(ClaimedFile file) const {
  const auto started = Clock::real().now();
  TRY(sink.begin(file.index));
  auto audio = TRY(sink.fetch(file));
  auto recording = TRY(sink.decoded(file.index, [&] { return decode_audio_of(*this, file, audio); }));
  TRY(sink.on_audio_decoded(file.index, recording.duration()));
  DecodedFile decoded{
      .index = file.index, .input = std::move(file.input), .started = started, .recording = std::move(recording)};
  if (options.diarize && options.diarize->by_channel) decoded.audio = std::move(audio);
  decoded.spent.audio = Clock::real().now() - started;
  return decoded;
}

Result<DecodedFile> RecordingJob::detect_speech(DecodedFile file) const {
  if (!options.vad) return file;
  const auto started = Clock::real().now();
  auto speech = TRY(speech_probabilities(file.recording, *options.vad, [&](Seconds) { return !aborted; }));
  file.speech = std::move(speech);
  file.spent.listening = Clock::real().now() - started;
  return file;
}

Result<void> RecordingJob::prepare(DecodedFile file, const HandOn& hand_on) const {
  const TranscriptionContext* context = sink.context(file.index);
  if (!context || !is_wanted()) return stopped();
  return prepare_work(std::move(file), *context, aborted,
                      [&](Work&& work) { return is_wanted() && hand_on(std::move(work)); });
}

Result<std::optional<TranscribedFile>> RecordingJob::transcribe(Work work) const {
  const DecodedFile& decoded = decoded_of(work);
  const TranscriptionContext* context = sink.context(decoded.index);
  auto done = context && is_wanted() ? transcribe_work(work, *context) : discard_work(work, stopped().value());
  if (!done) return std::nullopt;
  if (!*done) return tl::unexpected(done->error());
  TRY(enrich(decoded, **done));
  return std::move(**done);
}

Result<void> RecordingJob::enrich(const DecodedFile& decoded, TranscribedFile& file) const {
  const Recording& audio = decoded.recording;
  FileOutcome& outcome = file.outcome;
  outcome.losses = audio.losses();
  outcome.notes = audio.notes();
  std::ranges::copy(remarks, std::back_inserter(outcome.notes));
  if (options.replacements) outcome.replacements = replace_text(file.transcript, *options.replacements);
  outcome.without_speech = !has_text(file.transcript);
  if (!options.diarize) return {};
  const TranscriptionContext* context = sink.context(decoded.index);
  return context ? add_speakers(*this, decoded, *context, file) : stopped();
}

Result<TranscribedFile> RecordingJob::transcribe_here(DecodedFile file) const {
  const std::filesystem::path name = file.input;
  std::optional<TranscribedFile> whole;
  Result<void> done;
  const auto prepared = prepare(std::move(file), [&](Work&& work) {
    auto transcribed = transcribe(std::move(work));
    if (!transcribed)
      done = tl::unexpected(transcribed.error());
    else if (*transcribed)
      whole = std::move(**transcribed);
    return done.has_value();
  });
  TRY(done);
  if (!prepared) return tl::unexpected(prepared.error());
  if (!whole) return fail(Fault::internal, name.string() + ": its last window has no answer");
  return std::move(*whole);
}

}  // namespace tutti
