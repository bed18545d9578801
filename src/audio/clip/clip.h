#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "audio/byte_source.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// The contents of an audio file's header.
struct ClipFacts {
  Hertz rate{};
  int channels = 0;
  std::int64_t frames = 0;  // PCM samples of one channel

  Seconds length() const { return length_of(frames, rate); }
};

/// From `start` up to `end` of a file; none: its own start and end.
struct ClipRange {
  std::optional<Seconds> start{};
  std::optional<Seconds> end{};
  Seconds slack{0.1};  ///< the file may end so much before `end`: times are rounded, and encoders pad

  bool is_whole() const { return !start && !end; }
};

/// Fault::corrupt where the range ends behind a file of `length`: speech would be missing at the end of its audio.
Result<void> check_range(const ClipRange& range, Seconds length);

/// Decoded audio as the file holds it: its rate, its channels interleaved.
struct NativeClip {
  ClipFacts facts{};
  int format = 0;                       // an AVSampleFormat
  std::vector<std::int16_t> storage{};  // the bytes of the samples, whatever they are
};

/// The size of one PCM sample in `storage`: 1, 2 or 4.
int bytes_of_sample(const NativeClip& clip);

/// Samples that are at 16 kHz, mono, 16 bits already, as a clip.
NativeClip native_clip(std::vector<std::int16_t> pcm);

/// Reads the header and decodes nothing: WAV, AIFF, FLAC, MP3, Ogg and what else libsndfile reads. Fault::unsupported
/// for other formats.
Result<ClipFacts> clip_facts(ByteSource& bytes);

/// A short recording decoded in this process, by libsndfile alone: training reads millions of files, and a process for
/// each would cost more than the decoding. Strict: a file that is damaged or shorter than its header promises is
/// Fault::corrupt, never silently shorter; so is a range that ends behind the file. Fault::unsupported for formats
/// libsndfile does not know (decode_recording takes those).
Result<NativeClip> decode_clip(ByteSource& bytes, const ClipRange& range = {});

/// Clips to 16 kHz, mono, 16 bits, the same samples as decode_recording's. Keeps the filters it has made, which cost
/// more than a short clip. One thread.
class ClipResampler {
 public:
  ClipResampler();
  ~ClipResampler();
  ClipResampler(ClipResampler&&) noexcept;
  ClipResampler& operator=(ClipResampler&&) noexcept;

  Result<std::vector<std::int16_t>> convert(NativeClip clip);

 private:
  struct Kept;
  std::map<std::tuple<int, int, int>, std::unique_ptr<Kept>> kept_;  // by format, rate and channels
};

}  // namespace tutti
