#include "transcribe/mel_source.h"

#include <algorithm>
#include <string>

#include "base/try.h"

namespace tutti {

Result<ChunkMel> ChunkMel::of(const SampleReader& recording, std::int64_t frames, const LogMel& log_mel) {
  auto mel = TRY(log_mel.window(recording, 0, frames));
  return ChunkMel(std::move(mel), log_mel.n_mels(), frames, TRY(log_mel.morse(recording, 0, frames)));
}

Result<std::optional<MorseReading>> ChunkMel::morse(WindowSpan span) {
  if (span.seek != 0 || span.frames != frames_) return std::nullopt;
  return morse_;
}

Result<std::vector<float>> ChunkMel::window(WindowSpan span) {
  if (span.seek < 0 || span.frames < 0 || span.seek + span.frames > frames_)
    return fail(Fault::internal, "window of a chunk: expected frames within 0 to " + std::to_string(frames_) +
                                     ", found " + std::to_string(span.seek) + " to " +
                                     std::to_string(span.seek + span.frames));
  if (span.seek == 0 && span.frames == frames_) return mel_;
  std::vector<float> cut(static_cast<std::size_t>(n_mels_ * span.frames));
  for (std::int64_t bin = 0; bin < n_mels_; ++bin)
    std::copy_n(mel_.begin() + bin * frames_ + span.seek, span.frames, cut.begin() + bin * span.frames);
  return cut;
}

}  // namespace tutti
