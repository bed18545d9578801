#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/audio_source.h"

namespace tutti {

/// Finds out, second by second, whether channels cancel each other out in the mix: one of two is inverted, say.
class ChannelLoudness {
 public:
  /// A decoded stretch, and how much each of its channels counts in the mix.
  void add(const AudioBlock& block, std::span<const double> weights);
  /// No more follows.
  void finish() { close_second(); }

  /// The channel, from 1, that has more of the audio than the mix; none: the mix is as good as any.
  std::optional<int> better_than_mix() const;
  /// Audible in some channel, and as good as silent in the mix.
  Seconds cancelled() const { return Seconds(cancelled_); }
  int channels() const { return static_cast<int>(energy_.size()); }

 private:
  void close_second();

  std::vector<double> energy_;   // energy of each channel
  std::vector<double> covered_;  // seconds in which the channel is about as loud as the loudest
  double audible_ = 0, cancelled_ = 0;

  // The second that is being read.
  std::vector<double> now_, weights_;
  double mix_ = 0;
  std::int64_t taken_ = 0, frames_ = 0;  // samples that were looked at; frames of the second
  int rate_ = 0;
};

}  // namespace tutti
