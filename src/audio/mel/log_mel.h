#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "audio/keying/morse_reading.h"
#include "audio/mel/mel_kernel.h"
#include "audio/sample_reader.h"
#include "base/error.h"

namespace tutti {

/// Samples from one frame to the next: 100 frames a second.
inline constexpr std::int64_t kHopSamples = kMelHop;

/// Frames behind the last whole hop of a recording that may still see some of it.
inline constexpr std::int64_t kStraddlingFrames = 3;

/// Whisper's log-mel spectrogram (openai-whisper 20250625, audio.py): n_fft 400, hop 160, periodic Hann, reflect
/// padding of the recording's edges, Slaney mel filters, log10, clamp to 8 below the maximum, (x + 4) / 4. Immutable;
/// thread-safe.
class LogMel {
 public:
  /// 80 or 128 bins (any count works: the filters are computed). `keyed_tone`: of each window's keyed tone alone
  /// (audio/tone_filter.h), which is looked for in that window; it is clamped by its own maximum then, whatever else
  /// is named, and `maximum` is 0 without a pass. `target`: as keyed_tone() has it.
  explicit LogMel(int n_mels, bool keyed_tone = false, std::optional<double> target = {});
  ~LogMel();
  LogMel(LogMel&&) noexcept;
  LogMel& operator=(LogMel&&) noexcept;

  int n_mels() const;
  /// Whether it is of the keyed tone.
  bool takes_keyed_tone() const;

  /// Frames of content in a recording: samples / 160, as the reference counts after dropping its 30 s of padding.
  static std::int64_t content_frames(const SampleReader& recording);

  /// The largest log10 mel value of the whole recording, which the reference clamps by. One pass over the file.
  Result<float> maximum(const SampleReader& recording) const;

  /// Frames [first, first + frames), row-major [n_mels, frames] float32, clamped by the file's `maximum`. Exactly so
  /// many columns; frames past the recording's end are those of silence.
  Result<std::vector<float>> window(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                                    float maximum) const;

  /// The same, clamped by the largest value of these frames themselves: no pass over the whole file, but not the
  /// reference's values where another part of the file is louder.
  Result<std::vector<float>> window(const SampleReader& recording, std::int64_t first, std::int64_t frames) const;

  /// The first of these frames that are read at once, and their Morse code, as read_keyed_part() has it: a number of
  /// whole frames. All of them, without any code, if it is not of the keyed tone.
  Result<KeyedPart> read_keying(const SampleReader& recording, std::int64_t first, std::int64_t frames,
                                std::int64_t most) const;

  /// The mel of a window, written into rows of a larger array: bin b of frame f goes to `out[b * stride + f]`. Yields
  /// what silence comes to under this clamp, which is what padding behind the recording holds.
  Result<float> window_into(const SampleReader& recording, std::int64_t first, std::int64_t frames, float* out,
                            std::int64_t stride) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace tutti
