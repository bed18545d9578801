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
  /// The Morse code of `span`, as LogMel::morse() has it; none of a source of other sound.
  virtual Result<std::optional<MorseReading>> morse(WindowSpan /*span*/) { return std::nullopt; }
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
  Result<std::optional<MorseReading>> morse(WindowSpan span) override {
    return log_mel_.morse(recording_, span.seek, span.frames);
  }

 private:
  const LogMel& log_mel_;
  const SampleReader& recording_;
  float maximum_;
};

/// A chunk, computed ahead and clamped by its own maximum. Its windows are cut out of it.
class ChunkMel final : public MelSource {
 public:
  /// `mel`: row-major [n_mels, frames]. `morse`: of all of them.
  ChunkMel(std::vector<float> mel, std::int32_t n_mels, std::int64_t frames, std::optional<MorseReading> morse = {})
      : mel_(std::move(mel)), n_mels_(n_mels), frames_(frames), morse_(std::move(morse)) {}
  /// The whole of a recording.
  static Result<ChunkMel> of(const SampleReader& recording, std::int64_t frames, const LogMel& log_mel);

  std::int64_t frames() const { return frames_; }
  std::int32_t n_mels() const override { return n_mels_; }
  /// `span` is within the chunk.
  Result<std::vector<float>> window(WindowSpan span) override;
  /// None of a part.
  Result<std::optional<MorseReading>> morse(WindowSpan span) override;

 private:
  std::vector<float> mel_;
  std::int32_t n_mels_;
  std::int64_t frames_;
  std::optional<MorseReading> morse_;
};

}  // namespace tutti
