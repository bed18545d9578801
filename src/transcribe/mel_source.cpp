#include "transcribe/mel_source.h"

#include <algorithm>
#include <string>

#include "audio/pcm_samples.h"
#include "base/try.h"

namespace tutti {
namespace {

/// What of `span` is read at once: where nothing is certain, no more than a small network can follow.
Result<KeyedPart> read_keying_of(const SampleReader& recording, WindowSpan span, const LogMel& log_mel) {
  constexpr auto kMost = static_cast<std::int64_t>(12 * kFramesPerSecond);
  return log_mel.read_keying(recording, span.seek, span.frames, kMost);
}

}  // namespace

Result<KeyedPart> RecordingMel::read_keying(WindowSpan span) {
  return read_keying_of(recording_, span, log_mel_);
}

Result<ChunkMel> ChunkMel::of(const SampleReader& recording, std::int64_t frames, const LogMel& log_mel) {
  ChunkMel chunk(log_mel);
  while (chunk.frames_ < frames) {
    const WindowSpan rest{chunk.frames_, frames - chunk.frames_};
    auto read = TRY(read_keying_of(recording, rest, log_mel));
    Part part{.span = {rest.seek, read.samples / kHopSamples}, .read = std::move(read)};
    if (part.read.morse) {
      const std::int64_t first = part.span.seek * kHopSamples;
      part.pcm.resize(static_cast<std::size_t>(std::min(part.read.samples, recording.samples() - first)));
      TRY(recording.read(first, part.pcm));
    } else {
      part.mel = TRY(log_mel.window(recording, part.span.seek, part.span.frames));
    }
    chunk.frames_ += part.span.frames;
    chunk.parts_.push_back(std::move(part));
  }
  return chunk;
}

Result<KeyedPart> ChunkMel::read_keying(WindowSpan span) {
  const auto part = std::ranges::find(parts_, span.seek, [](const Part& each) { return each.span.seek; });
  if (part == parts_.end() || part->span.frames > span.frames) return MelSource::read_keying(span);
  return part->read;
}

Result<std::vector<float>> ChunkMel::window(WindowSpan span) {
  if (span.seek < 0 || span.frames < 0 || span.seek + span.frames > frames_)
    return fail(Fault::internal, "window of a chunk: expected frames within 0 to " + std::to_string(frames_) +
                                     ", found " + std::to_string(span.seek) + " to " +
                                     std::to_string(span.seek + span.frames));
  std::vector<float> cut(static_cast<std::size_t>(n_mels() * span.frames));
  for (Part& part : parts_) {
    const std::int64_t from = std::max(span.seek, part.span.seek);
    const std::int64_t count = std::min(span.seek + span.frames, part.span.seek + part.span.frames) - from;
    if (count <= 0) continue;
    if (part.mel.empty()) part.mel = TRY(log_mel_->window(PcmSamples(part.pcm), 0, part.span.frames));
    for (std::int64_t bin = 0; bin < n_mels(); ++bin)
      std::copy_n(part.mel.begin() + bin * part.span.frames + from - part.span.seek, count,
                  cut.begin() + bin * span.frames + from - span.seek);
  }
  return cut;
}

}  // namespace tutti
