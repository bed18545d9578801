#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "audio/clip/clip.h"
#include "audio/mono_audio.h"
#include "base/error.h"
#include "base/units.h"
#include "feed/labelled/audio_reading.h"
#include "feed/stages/audio_files.h"

namespace tutti {

/// A long file of audio as a classifier takes it, read stretch by stretch: neither its bytes nor its samples are ever
/// in memory as a whole. The samples are those of the whole file, converted to `rate` at once, but for rounding. One
/// thread.
class LongAudio {
 public:
  /// None for a file shorter than `least`, and for one that is not read by libsndfile: those are read as a whole
  /// (read_labelled_sound), which reports what is wrong with them.
  static std::optional<LongAudio> open(const std::filesystem::path& path, Hertz rate, Seconds least);

  /// How many samples the whole file has, at `rate`.
  std::int64_t samples() const { return samples_; }
  /// The samples [first, first + count), as far as there are so many. Fault::corrupt for a file that is damaged, ends
  /// before its header promises, or holds values that are no numbers.
  Result<std::vector<float>> read(std::int64_t first, std::int64_t count);
  /// Whether all samples that were read are the same.
  bool is_silent() const { return check_.is_silent(); }

 private:
  LongAudio(OpenAudio file, const ClipFacts& facts, Hertz rate);

  std::unique_ptr<OpenAudio> file_;
  ClipFacts facts_;
  Hertz rate_;
  std::int64_t samples_;
  MonoResampler resampler_{};
  SampleCheck check_{};
};

}  // namespace tutti
