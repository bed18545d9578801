#include "diarize/speech_activity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti {
namespace {

/// Which of the three local speakers each class means, a bit for each.
constexpr std::array<std::uint8_t, kSegmentationClasses> kSpeakersOf{0, 1, 2, 4, 3, 5, 6};
constexpr float kLeastSpeech = 0.5F;
/// Frames between a change and where the speakers before and after it are looked at: 100 ms.
constexpr std::size_t kAside = 6;

/// Frames of the recording that lie within it.
std::size_t frames_of(std::int64_t samples) {
  constexpr std::int64_t kCentre = 495;  // of frame 0, in samples
  return samples <= kCentre ? (samples > 0 ? 1 : 0)
                            : static_cast<std::size_t>((samples - kCentre - 1) / kSegmentationHop) + 1;
}

/// The votes of the windows on each frame.
struct Votes {
  std::vector<float> speech, two;
  std::vector<std::uint16_t> windows, changes;

  explicit Votes(std::size_t frames) : speech(frames), two(frames), windows(frames), changes(frames) {}
};

void add_window(std::size_t first, std::span<const float> scores, Votes& votes) {
  const std::size_t frames = std::min(kSegmentationFrames, votes.speech.size() - std::min(first, votes.speech.size()));
  std::vector<std::uint8_t> speakers(frames);
  for (std::size_t k = 0; k < frames; ++k) {
    const auto row = scores.subspan(k * kSegmentationClasses, kSegmentationClasses);
    speakers[k] = kSpeakersOf[static_cast<std::size_t>(std::ranges::max_element(row) - row.begin())];
    votes.speech[first + k] += 1 - std::exp(row[0]);
    votes.two[first + k] += std::exp(row[4]) + std::exp(row[5]) + std::exp(row[6]);
    ++votes.windows[first + k];
  }
  for (std::size_t k = kAside; k + kAside < frames; ++k) {
    const std::uint8_t before = speakers[k - kAside], after = speakers[k + kAside];
    if (before != 0 && after != 0 && before != after) ++votes.changes[first + k];
  }
}

/// The middle of each run of frames at which at least half of the windows see a change.
std::vector<std::uint8_t> changes_of(const Votes& votes) {
  std::vector<std::uint8_t> changes(votes.windows.size());
  const auto is_change = [&](std::size_t k) {
    return votes.changes[k] > 0 && 2 * votes.changes[k] >= votes.windows[k];
  };
  for (std::size_t k = 0; k < changes.size();) {
    std::size_t end = k;
    while (end < changes.size() && is_change(end)) ++end;
    if (end > k) changes[(k + end) / 2] = 1;
    k = end + 1;
  }
  return changes;
}

}  // namespace

std::vector<std::int64_t> segmentation_starts(std::int64_t samples, std::int64_t step) {
  std::vector<std::int64_t> starts;
  const std::int64_t beyond = samples - kSegmentationWindow;
  const std::int64_t last = beyond <= 0 ? 0 : (beyond + kSegmentationHop - 1) / kSegmentationHop * kSegmentationHop;
  for (std::int64_t start = 0; start < last; start += step * kSegmentationHop) starts.push_back(start);
  if (samples > 0) starts.push_back(last);
  return starts;
}

SpeechActivity speech_activity(std::span<const std::int64_t> starts, std::span<const float> scores,
                               std::int64_t samples) {
  constexpr std::size_t kValues = kSegmentationFrames * kSegmentationClasses;
  Votes votes(frames_of(samples));
  for (std::size_t i = 0; i < starts.size(); ++i)
    add_window(static_cast<std::size_t>(starts[i] / kSegmentationHop), scores.subspan(i * kValues, kValues), votes);
  for (std::size_t k = 0; k < votes.windows.size(); ++k) {
    const auto windows = static_cast<float>(std::max<std::uint16_t>(1, votes.windows[k]));
    votes.speech[k] /= windows;
    votes.two[k] /= windows;
  }
  auto changes = changes_of(votes);
  return {.speech = std::move(votes.speech), .two = std::move(votes.two), .changes = std::move(changes)};
}

std::vector<FrameRange> speech_regions(const SpeechActivity& activity) {
  std::vector<FrameRange> regions;
  bool is_open = false;
  for (std::size_t k = 0; k < activity.frames(); ++k) {
    const bool is_speech = activity.speech[k] > kLeastSpeech;
    if (is_speech && is_open && activity.changes[k] == 0) {
      regions.back().end = k + 1;
    } else if (is_speech) {
      regions.push_back({k, k + 1});
    }
    is_open = is_speech;
  }
  return regions;
}

}  // namespace tutti
