#include "transcribe/work.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "flow/failures.h"
#include "transcript/chunk.h"

namespace tutti {
namespace {

Result<ChunkMel> chunk_mel(const BatchedFile& file, std::size_t chunk, const LogMel& log_mel) {
  const SpeechChunk& speech = file.chunks()[chunk];
  const std::int64_t frames = speech.samples() / kHopSamples;
  auto mel = log_mel.window(file.file().recording, speech.pieces.front().start / kHopSamples, frames);
  if (!mel) return tl::unexpected(mel.error());
  return ChunkMel(std::move(*mel), log_mel.n_mels(), frames);
}

void restore_times(std::vector<Segment>& segments, const SpeechChunk& chunk) {
  for (Segment& segment : segments) {
    segment.seek += chunk.pieces.front().start / kHopSamples;
    segment.start = chunk.original(segment.start, false);
    segment.end = chunk.original(segment.end, true);
  }
}

Result<ChunkOutcome> transcribe_chunk(ChunkWork& work, const TranscriptionContext& context) {
  BatchedFile& file = *work.file;
  if (file.failed()) return fail(Fault::cancelled, "another part of the file failed");
  const SpeechChunk& chunk = file.chunks()[work.chunk];
  RemoteWindows windows(context.windows, work.mel, chunk.pieces.front().start / kHopSamples);
  const WindowSpan first{0, std::min(context.model.frames_per_window, work.mel.frames())};
  // Encoded while chunk 0 is still being asked for the language.
  if (auto opened = windows.open(first); !opened) return tl::unexpected(opened.error());
  const Tokenizer& tokenizer = context.windows.tokenizer;
  const auto language =
      file.language(work.chunk, [&] { return settle_language(tokenizer.special(), context.rules, first, windows); });
  if (!language) return tl::unexpected(language.error());
  auto segments =
      ChunkTranscriber(context.model, tokenizer, context.rules, *language).transcribe(work.mel.frames(), windows);
  if (!segments) return tl::unexpected(segments.error());
  restore_times(*segments, chunk);
  return ChunkOutcome{std::move(*segments), windows.costs()};
}

/// Whatever goes wrong here must be entered, or the rest of the file would wait for it for ever.
Result<ChunkOutcome> outcome_of(ChunkWork& work, const TranscriptionContext& context) {
  try {
    return transcribe_chunk(work, context);
  } catch (...) {
    return tl::unexpected(error_of_exception("transcribe"));
  }
}

}  // namespace

std::size_t file_of(const Work& work) {
  if (const auto* chunk = std::get_if<ChunkWork>(&work)) return chunk->file->file().index;
  return std::get<SequentialWork>(work).file.index;
}

Result<Work> prepare_sequential(DecodedFile file, const TranscriptionContext& context) {
  const auto start = Clock::real().now();
  const auto maximum = context.log_mel.maximum(file.recording);
  if (!maximum) return tl::unexpected(maximum.error());
  file.spent.features += Clock::real().now() - start;
  return SequentialWork{std::move(file), *maximum};
}

Result<void> prepare_chunks(DecodedFile decoded, const TranscriptionContext& context, const HandOn& hand_on) {
  auto chunks = interim_chunks(decoded.recording, context.model.frames_per_window * kHopSamples);
  const auto file = std::make_shared<BatchedFile>(std::move(decoded), std::move(chunks), context);
  for (std::size_t chunk = 0; chunk < file->chunks().size(); ++chunk) {
    const auto start = Clock::real().now();
    auto mel = chunk_mel(*file, chunk, context.log_mel);
    file->spent_on_features(Clock::real().now() - start);
    if (mel) {
      if (!hand_on(ChunkWork{file, chunk, std::move(*mel)})) return {};
    } else if (auto whole = file->enter(chunk, tl::unexpected(mel.error()))) {
      return tl::unexpected(whole->error());
    }
  }
  return {};
}

std::optional<Result<TranscribedFile>> do_work(Work work, const TranscriptionContext& context) {
  if (auto* whole = std::get_if<SequentialWork>(&work)) return transcribe_file(whole->file, whole->maximum, context);
  auto& chunk = std::get<ChunkWork>(work);
  return chunk.file->enter(chunk.chunk, outcome_of(chunk, context));
}

std::optional<Result<TranscribedFile>> drop_work(const Work& work, const Error& why) {
  if (const auto* chunk = std::get_if<ChunkWork>(&work)) return chunk->file->enter(chunk->chunk, tl::unexpected(why));
  return tl::unexpected(why);
}

}  // namespace tutti
