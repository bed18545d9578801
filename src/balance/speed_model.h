#pragma once

#include <array>
#include <deque>
#include <optional>

#include "base/units.h"

namespace tutti {

/// How fast one device is with one model: a piece costs fixed + audio / speed of the device's time, where the speed
/// depends on how many pieces are in flight. Learns both from what pieces have cost, and keeps the error of its own
/// predictions. Pure.
class SpeedModel {
 public:
  /// What is believed until something is measured: `speed` with `enough` pieces in flight or more, in proportion with
  /// fewer.
  SpeedModel(double speed, Seconds fixed, int enough);

  /// Audio seconds per second with so many pieces in flight, all together.
  double speed(int pieces) const;
  Seconds fixed() const { return fixed_; }
  /// Device time of a piece of so much audio.
  Seconds cost(Seconds audio, int pieces) const { return fixed_ + audio / speed(pieces); }

  /// A piece of `audio` has cost `spent` of the device's time: its share of every moment it was in flight, with
  /// `pieces` of them on average.
  void measured(Seconds audio, Seconds spent, double pieces);

  /// Median of |predicted − spent| / spent over the last pieces; none before the first.
  std::optional<double> error() const;
  int samples() const { return samples_; }

 private:
  /// Decayed sums over one range of pieces in flight: what a line through (audio, spent) needs.
  struct Level {
    double weight = 0, audio = 0, spent = 0, audio_squared = 0, audio_spent = 0;
    void add(double d, double e);
    std::optional<double> intercept() const;
  };
  static std::size_t level_of(double pieces);
  double prior(double pieces) const;

  double prior_speed_;
  Seconds fixed_;
  int enough_;
  int samples_ = 0;
  std::array<Level, 9> levels_{};  // 1, 2, 3 to 4, 5 to 8, … pieces in flight
  std::deque<double> errors_{};
};

}  // namespace tutti
