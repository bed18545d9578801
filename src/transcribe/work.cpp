#include "transcribe/work.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/try.h"
#include "flow/failures.h"
#include "transcribe/pcm_window.h"
#include "transcribe/speech_chunks.h"
#include "transcript/chunk.h"

namespace tutti {
namespace {

tl::unexpected<Error> no_use() {
  return fail(Fault::cancelled, "another part of the file failed");
}

/// A recording whose readers stop once `aborted`: a pass over ten hours takes seconds.
class StoppableAudio final : public SampleReader {
 public:
  StoppableAudio(const SampleReader& audio, const std::atomic<bool>& aborted) : audio_(audio), aborted_(aborted) {}
  std::int64_t samples() const override { return audio_.samples(); }
  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override {
    if (aborted_) return fail(Fault::cancelled, "stopped");
    return audio_.read(first, out);
  }

 private:
  const SampleReader& audio_;
  const std::atomic<bool>& aborted_;
};

Result<decltype(ChunkWork::audio)> chunk_audio(const BatchedFile& file, std::size_t chunk,
                                               const TranscriptionContext& context) {
  if (file.failed()) return no_use();
  const SpeechChunk& speech = file.chunks()[chunk];
  const PackedRecording audio(file.file().recording, speech.pieces);
  if (context.other) return pcm_of(audio);
  return ChunkMel::of(audio, speech.frames(), context.log_mel);  // clamped by its own maximum: a recording of its own
}

/// By an engine of others. Where no language is requested, the file's is the one that it finds in chunk 0.
Result<ChunkOutcome> transcribe_pcm(std::span<const float> pcm, std::size_t chunk, BatchedFile& file,
                                    const TranscriptionContext& context) {
  PcmWindow window(context.windows.engine, pcm, *context.other);
  std::optional<Result<Transcript>> first;
  const auto language = TRY(file.language(chunk, [&]() -> Result<std::string> {
    if (context.rules.language) return *context.rules.language;
    first = window.transcribe("");
    if (!*first) return tl::unexpected(first->error());
    return (*first)->language;
  }));
  auto transcript = TRY(first ? std::move(*first) : window.transcribe(language));
  return ChunkOutcome{std::move(transcript.segments), window.costs()};
}

Result<ChunkOutcome> transcribe_mel(ChunkMel& mel, std::size_t number, BatchedFile& file,
                                    const TranscriptionContext& context) {
  RemoteWindows windows(context.windows, mel, file.chunks()[number].first_frame());
  const WindowSpan first{0, std::min(context.model.frames_per_window, mel.frames())};
  // Encoded while the language of chunk 0 is still being detected. Where windows are rationed, chunk 0 might wait for
  // one that would be held meanwhile. A window of Morse may need no encoding.
  if (!context.windows.rationed && !context.windows.keyed_tone) TRY(windows.open(first));
  const Tokenizer& tokenizer = context.windows.tokenizer;
  const auto language =
      TRY(file.language(number, [&] { return settle_language(tokenizer.special(), context.rules, first, windows); }));
  auto segments =
      TRY(ChunkTranscriber(context.model, tokenizer, context.rules, language).transcribe(mel.frames(), windows));
  return ChunkOutcome{std::move(segments), windows.costs()};
}

Result<ChunkOutcome> transcribe_chunk(ChunkWork& work, const TranscriptionContext& context) {
  BatchedFile& file = *work.file;
  if (file.failed()) return no_use();
  auto* mel = std::get_if<ChunkMel>(&work.audio);
  auto outcome = mel ? transcribe_mel(*mel, work.chunk, file, context)
                     : transcribe_pcm(std::get<std::vector<float>>(work.audio), work.chunk, file, context);
  if (!outcome) return outcome;
  const SpeechChunk& chunk = file.chunks()[work.chunk];
  end_with_audio(outcome->segments, chunk.length());
  restore_times(outcome->segments, SpeechMap(chunk.pieces));
  return outcome;
}

/// Whatever goes wrong here must be entered, or the rest of the file would wait for it for ever.
Result<ChunkOutcome> outcome_of(ChunkWork& work, const TranscriptionContext& context) {
  try {
    return transcribe_chunk(work, context);
  } catch (...) {
    return tl::unexpected(error_of_exception("transcribe"));
  }
}

bool is_keyed(const TranscriptionContext& context) {
  return context.way.vad && context.way.keyed;
}

/// The file's speech in windows.
std::vector<SpeechChunk> chunks_of_file(const DecodedFile& file, const PackedPieces& speech,
                                        const TranscriptionContext& context) {
  if (!is_keyed(context)) return chunks_of(speech, context.model.frames_per_window, file.recording.gaps());
  const auto up = static_cast<float>(context.way.vad->threshold);
  const auto& gaps = file.recording.gaps();
  const std::int64_t samples = file.recording.samples();
  const auto between = between_clips(clips_with_audio(context.way.clips, gaps, samples), samples);
  return keyed_chunks_of(speech, file.speech, up, context.model.frames_per_window, gaps, between);
}

/// Where chunks begin and end when all follow each other, in seconds.
std::vector<double> clips_of(const std::vector<SpeechChunk>& chunks) {
  std::vector<double> clips;
  Seconds end{};
  for (const SpeechChunk& chunk : chunks) {
    clips.push_back(end.count());
    clips.push_back((end += chunk.length()).count());
  }
  return clips;
}

/// The part of the file that is to be transcribed: its speech within the clips. None without VAD: everything.
Result<std::optional<PackedPieces>> speech_of(const DecodedFile& file, const TranscriptionContext& context) {
  if (!context.way.vad) return std::nullopt;
  VadOptions vad = *context.way.vad;
  double window = length_of(context.model.frames_per_window * kHopSamples, kModelRate).count();
  if (is_keyed(context)) window = std::min(window, kKeyedWindow.count());
  if (context.way.batched || is_keyed(context)) vad.max_speech_duration_s = std::min(vad.max_speech_duration_s, window);
  const std::int64_t samples = file.recording.samples();
  const auto pieces = speech_pieces(file.speech, samples, vad);
  const auto clips = clips_with_audio(context.way.clips, file.recording.gaps(), samples);
  auto within = TRY(within_clips(pieces, clips, samples));
  return within;
}

Result<void> prepare_whole(SequentialFile file, const TranscriptionContext& context, const std::atomic<bool>& aborted,
                           const HandOn& hand_on) {
  const auto start = Clock::real().now();
  const StoppableAudio recording(file.decoded.recording, aborted);
  file.maximum = TRY(file.speech ? context.log_mel.maximum(PackedRecording(recording, *file.speech))
                                 : context.log_mel.maximum(recording));
  file.decoded.spent.features += Clock::real().now() - start;
  hand_on(std::move(file));
  return {};
}

/// An engine of others has nothing to do where there is no speech, and the language stays as requested.
Result<TranscribedFile> without_speech(const DecodedFile& file, const TranscriptionContext& context) {
  Transcript nothing;
  nothing.language = context.rules.language.value_or("");
  return transcribed(file, context.way, std::move(nothing), {});
}

/// The length of all windows together, in whole frames as they are requested.
Seconds speech_length(const std::vector<SpeechChunk>& chunks) {
  std::int64_t frames = 0;
  for (const SpeechChunk& chunk : chunks) frames += chunk.frames();
  return length_of(frames * kHopSamples, kModelRate);
}

Result<void> prepare_chunks(DecodedFile decoded, std::vector<SpeechChunk> chunks, const TranscriptionContext& context,
                            const HandOn& hand_on) {
  const auto file = std::make_shared<BatchedFile>(std::move(decoded), std::move(chunks), context);
  for (std::size_t chunk = 0; chunk < file->chunks().size(); ++chunk) {
    const auto start = Clock::real().now();
    auto audio = chunk_audio(*file, chunk, context);
    file->spent_on_features(Clock::real().now() - start);
    if (audio) {
      if (!hand_on(ChunkWork{file, chunk, std::move(*audio)})) return {};
    } else if (auto whole = file->enter(chunk, tl::unexpected(audio.error()))) {
      return tl::unexpected(whole->error());
    }
  }
  return {};
}

}  // namespace

const DecodedFile& decoded_of(const Work& work) {
  if (const auto* chunk = std::get_if<ChunkWork>(&work)) return chunk->file->file();
  return std::get<SequentialFile>(work).decoded;
}

Result<void> prepare_work(DecodedFile file, const TranscriptionContext& context, const std::atomic<bool>& aborted,
                          const HandOn& hand_on) {
  auto speech = TRY(speech_of(file, context));
  if (context.way.batched) {
    auto chunks = chunks_of_file(file, *speech, context);
    context.windows.engine.correct_length(speech_length(chunks));
    if (!chunks.empty()) return prepare_chunks(std::move(file), std::move(chunks), context, hand_on);
  }
  std::vector<double> clips;
  if (is_keyed(context)) {
    const auto chunks = chunks_of_file(file, *speech, context);
    speech->clear();  // what is shorter than a frame is in no chunk
    for (const SpeechChunk& chunk : chunks) speech->insert(speech->end(), chunk.pieces.begin(), chunk.pieces.end());
    clips = clips_of(chunks);
  }
  return prepare_whole({.decoded = std::move(file), .speech = std::move(speech), .clips = std::move(clips)}, context,
                       aborted, hand_on);
}

std::optional<Result<TranscribedFile>> transcribe_work(Work& work, const TranscriptionContext& context) {
  if (const auto* whole = std::get_if<SequentialFile>(&work))
    return context.other ? without_speech(whole->decoded, context) : transcribe_file(*whole, context);
  auto& chunk = std::get<ChunkWork>(work);
  return chunk.file->enter(chunk.chunk, outcome_of(chunk, context));
}

std::optional<Result<TranscribedFile>> discard_work(const Work& work, const Error& why) {
  if (const auto* chunk = std::get_if<ChunkWork>(&work)) return chunk->file->enter(chunk->chunk, tl::unexpected(why));
  return tl::unexpected(why);
}

}  // namespace tutti
