#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

// The frames of pyannote's segmentation-3.0, of which all windows of a recording share one grid: windows begin at
// multiples of kSegmentationHop.
inline constexpr std::int64_t kSegmentationWindow = 160000;  // samples at 16 kHz: 10 s
inline constexpr std::int64_t kSegmentationHop = 270;        // samples from one frame to the next
inline constexpr std::size_t kSegmentationFrames = 589;      // of a window
inline constexpr std::size_t kSegmentationClasses = 7;       // silence, a, b, c, a and b, a and c, b and c

/// When frame `frame` begins: it is centred on 30.94 ms + 16.875 ms * frame.
constexpr double frame_start(std::size_t frame) {
  return 0.0225 + 0.016875 * static_cast<double>(frame);
}

/// The first samples of the windows that cover so many, `step` frames apart; the last one ends with the recording.
std::vector<std::int64_t> segmentation_starts(std::int64_t samples, std::int64_t step);

/// What all windows together find: for each frame of the recording.
struct SpeechActivity {
  std::vector<float> speech{};          // probability that at least one speaks
  std::vector<float> two{};             // and that two do
  std::vector<std::uint8_t> changes{};  // 1: another speaker begins here

  std::size_t frames() const { return speech.size(); }
};

/// Frames [start, end).
struct FrameRange {
  std::size_t start = 0;
  std::size_t end = 0;
  bool operator==(const FrameRange&) const = default;
};

/// scores: log-probabilities of the windows at `starts`, [windows, kSegmentationFrames, kSegmentationClasses].
SpeechActivity speech_activity(std::span<const std::int64_t> starts, std::span<const float> scores,
                               std::int64_t samples);

/// Stretches of speech, each cut where another speaker begins.
std::vector<FrameRange> speech_regions(const SpeechActivity& activity);

}  // namespace tutti
