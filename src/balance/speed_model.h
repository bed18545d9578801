#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "base/units.h"

namespace tutti {

/// What has been measured with so many pieces in flight: a record for next time.
struct SpeedView {
  int pieces = 1;    ///< the most of its range: 1, 2, 4, 8, …
  double speed = 0;  ///< audio seconds per second, all pieces together
  Seconds fixed{};   ///< fixed time of every piece
  int samples = 0;
  std::optional<double> error{};  ///< median relative error of the predictions, all numbers of pieces together
};

/// How fast one device is with one model: a piece costs fixed + audio / speed of the device's time, where the speed
/// depends on how many pieces are in flight. Learns both from what pieces have cost, and keeps the error of its own
/// predictions. Pure.
class SpeedModel {
 public:
  /// What is believed until something is measured: `speed` with `enough` pieces in flight or more, in proportion with
  /// fewer, and nothing beside.
  SpeedModel(double speed, int enough);

  /// Another belief, in the same sense; what has been measured counts more.
  void believe(double speed);

  /// Audio seconds per second with so many pieces in flight, all together.
  double speed(int pieces) const;
  Seconds fixed() const { return fixed_; }
  /// Device time of a piece of so much audio.
  Seconds cost(Seconds audio, int pieces) const { return fixed_ + audio / speed(pieces); }
  /// Audio seconds per second in pieces of so much audio, with what they cost beside it.
  double through(Seconds piece, int pieces) const;
  /// By which that may be off, relative, because all pieces measured were as long as each other and these are not: the
  /// fixed part of the cost could not be separated.
  double doubt(Seconds piece) const;
  /// Audio of a mean piece measured; before the first a window's.
  Seconds usual_piece() const;

  /// A piece of `audio` has cost `spent` of the device's time: its share of every moment it was in flight, with
  /// `pieces` of them on average.
  void measured(Seconds audio, Seconds spent, double pieces);

  /// Median of |predicted − spent| / spent over the last pieces; none before the first.
  std::optional<double> error() const;
  std::vector<SpeedView> views() const;

 private:
  /// Decayed sums over one range of pieces in flight: what a line through (audio, spent) needs.
  struct Level {
    double weight = 0, audio = 0, spent = 0, audio_squared = 0, audio_spent = 0;
    int samples = 0;
    void add(double d, double e, double kept);
    std::optional<double> intercept() const;
  };
  static std::size_t level_of(double pieces);
  double prior(double pieces) const;
  double measured_in(const Level& level) const;

  double prior_speed_;
  Seconds fixed_{};
  bool separated_ = false;  // fixed_ was
  int enough_;
  std::array<Level, 9> levels_{};  // 1, 2, 3 to 4, 5 to 8, … pieces in flight
  std::deque<double> errors_{};
};

}  // namespace tutti
