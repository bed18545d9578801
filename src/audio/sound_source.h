#pragma once

#include <cstdint>
#include <optional>

#include "audio/ffmpeg_api.h"
#include "base/units.h"

namespace tutti {

/// A stretch of decoded sound in the decoder's own sample format, as libswresample takes it. The memory stays the
/// source's and lasts until its next call.
struct SoundBlock {
  AVSampleFormat format = AV_SAMPLE_FMT_NONE;
  Hertz rate{};
  const AVChannelLayout* layout = nullptr;
  const std::uint8_t* const* planes = nullptr;  // one pointer per channel when planar, one in all when interleaved
  int frames = 0;
};

/// What the file's header says it holds.
struct SoundPromise {
  Seconds length{};
  Seconds tolerance{};  // how much less is no loss: encoders' padding, rounded time stamps
};

/// A file being decoded from its start to its end.
class SoundSource {
 public:
  virtual ~SoundSource() = default;
  /// The next stretch; false at the end. An error means that this decoder cannot go on.
  virtual Result<bool> next(SoundBlock& block) = 0;
  virtual std::optional<SoundPromise> promised() const = 0;
};

}  // namespace tutti
