#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "audio/vad/speech.h"

namespace tutti {

/// Finds the words of a keyed tone (Morse) in audio as it comes. A window is likely where the loudest keyed tone of the
/// seconds about it is down, or up for no longer than between two characters: what is unlikely between likely windows
/// is a gap between words, or no transmission. How likely follows from how far the tone's key-down is over its key-up:
/// 0.5 at 8 dB, 0.95 at 14, as the 80 ms about each moment have it. A tone too weak for that is found by how far its
/// mean is over its neighbours': 0.5 at 1.6 dB, 0.95 at 3. The same, bit for bit, however the audio is divided. One
/// thread.
class KeyingDetector {
 public:
  /// `target`: the pitch in Hz of the one tone that counts, whatever is louder; kLowestTarget to kHighestTarget.
  explicit KeyingDetector(std::optional<double> target = {}) : target_(target) {}

  /// Adds to `found` the probabilities that `windows`, the next ones, whole, decide; `last`: nothing follows.
  void take(std::span<const std::int16_t> windows, bool last, std::vector<float>& found);

 private:
  void measure(std::span<const float> samples);
  void measure_target(std::span<const float> samples);
  std::size_t target_tone() const;
  void decide(std::size_t count, std::vector<float>& found);

  std::deque<std::vector<float>> powers_{};  // by hop, then by tone; those that decisions yet to be made look at
  std::size_t first_ = 0;                    // number of the first of them
  std::size_t decided_ = 0;                  // hops before it have their probabilities
  std::vector<float> previous_{};            // samples that the next hop sees, too
  std::optional<double> target_;
};

/// Seconds from which on a gap parts words, where marks and gaps have these lengths: between those of characters and
/// those of words, whatever the speed, the hand and the spacing.
double word_gap(std::span<const double> marks, std::span<const double> gaps);

}  // namespace tutti
