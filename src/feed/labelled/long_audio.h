#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
  /// None for a file shorter than `least`, and for one that is not read by libsndfile.
  static std::optional<LongAudio> open(const std::filesystem::path& path, Hertz rate, Seconds least);
  /// A file of another format, whose length counts as far as it can be known beforehand: decoded to disk by a child.
  /// None for a shorter one: that is read as a whole (read_labelled_audio). Errors as ChildDecoder::recording.
  static Result<std::optional<LongAudio>> decoded(const std::filesystem::path& path, const ChildDecoder& children,
                                                  Hertz rate, Seconds least);

  /// How many samples the whole file has, at `rate`.
  std::int64_t samples() const { return samples_; }
  /// The samples [first, first + count), as far as there are so many. Fault::corrupt for a file that is damaged, ends
  /// before its header promises, or holds values that are no numbers.
  Result<std::vector<float>> read(std::int64_t first, std::int64_t count);
  /// Whether all samples that were read are the same.
  bool is_silent() const { return check_.is_silent(); }

 private:
  /// The samples [first, end) as the file holds them.
  using ReadNative = std::function<Result<NativeClip>(std::int64_t first, std::int64_t end)>;
  LongAudio(ReadNative read, const ClipFacts& facts, Hertz rate);

  ReadNative read_;
  ClipFacts facts_;
  Hertz rate_;
  std::int64_t samples_;
  MonoResampler resampler_{};
  SampleCheck check_{};
};

}  // namespace tutti
