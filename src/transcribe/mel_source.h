#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audio/mel/log_mel.h"
#include "audio/sample_reader.h"
#include "base/error.h"
#include "transcript/long_form.h"

namespace tutti {

/// Where the log-mel windows of one stretch of audio come from. One thread at a time.
class MelSource {
 public:
  virtual ~MelSource() = default;
  virtual std::int32_t n_mels() const = 0;
  /// Frames of `span`, row-major [n_mels, span.frames] float32.
  virtual Result<std::vector<float>> window(WindowSpan span) = 0;
  /// The beginning of `span` that is to be read at once, as LogMel::read_keying() has it: all of it, without Morse
  /// code, of a source of other sound.
  virtual Result<KeyedPart> read_keying(WindowSpan span) { return KeyedPart{.samples = span.frames * kHopSamples}; }
};

/// A recording of any length, computed window by window and clamped by the maximum of the whole, as in the reference.
/// Borrows what it is given.
class RecordingMel final : public MelSource {
 public:
  /// `maximum`: LogMel::maximum of the recording.
  RecordingMel(const LogMel& log_mel, const SampleReader& recording, float maximum)
      : log_mel_(log_mel), recording_(recording), maximum_(maximum) {}

  std::int32_t n_mels() const override { return log_mel_.n_mels(); }
  Result<std::vector<float>> window(WindowSpan span) override {
    return log_mel_.window(recording_, span.seek, span.frames, maximum_);
  }
  Result<KeyedPart> read_keying(WindowSpan span) override;

 private:
  const LogMel& log_mel_;
  const SampleReader& recording_;
  float maximum_;
};

/// A chunk, computed ahead and clamped by its own maximum. Of keyed sound, each part that is read at once is computed
/// as a recording of its own; one whose Morse code is certain, only when a window of it is requested after all. Its
/// windows are cut out of it. Borrows the LogMel.
class ChunkMel final : public MelSource {
 public:
  /// The first frames of a recording.
  static Result<ChunkMel> of(const SampleReader& recording, std::int64_t frames, const LogMel& log_mel);

  std::int64_t frames() const { return frames_; }
  std::int32_t n_mels() const override { return log_mel_->n_mels(); }
  /// `span` is within the chunk.
  Result<std::vector<float>> window(WindowSpan span) override;
  /// Those of one call of of(), each in turn.
  Result<KeyedPart> read_keying(WindowSpan span) override;

 private:
  struct Part {
    WindowSpan span{};
    KeyedPart read{};
    std::vector<float> mel{};         // of what is certain: empty until it is requested
    std::vector<std::int16_t> pcm{};  // of what is certain: what it is computed of
  };

  explicit ChunkMel(const LogMel& log_mel) : log_mel_(&log_mel) {}

  std::vector<Part> parts_{};  // one after the other
  const LogMel* log_mel_;
  std::int64_t frames_ = 0;
};

}  // namespace tutti
