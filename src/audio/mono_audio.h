#pragma once

#include <memory>
#include <vector>

#include "audio/clip/clip.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Audio of one channel; full scale is 1.
struct MonoAudio {
  Hertz rate{};
  std::vector<float> samples{};

  Seconds length() const { return length_of(std::ssize(samples), rate); }
};

/// The mean of the clip's channels, at its own rate.
MonoAudio mono_mean(const NativeClip& clip);

/// Converts mono audio between rates by libswresample in float32, round(n * rate / from) samples of it. Audio that has
/// the rate already passes through untouched. Keeps its last filter. One thread.
class MonoResampler {
 public:
  MonoResampler();
  ~MonoResampler();
  MonoResampler(MonoResampler&&) noexcept;
  MonoResampler& operator=(MonoResampler&&) noexcept;

  /// Fault::corrupt for a rate that no recording has, Fault::missing without FFmpeg's library.
  Result<MonoAudio> convert(MonoAudio audio, Hertz rate);

 private:
  struct Conversion;
  std::unique_ptr<Conversion> conversion_;
};

}  // namespace tutti
