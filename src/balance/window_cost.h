#pragma once

#include <span>

#include "base/units.h"

namespace tutti {

/// The span of audio that a network takes at once: a shorter window is filled up to it.
inline constexpr Seconds kFullWindow{30};

/// How many windows a recording, or a piece of one, with so much audio to transcribe has.
double windows_in(Seconds audio);

/// Windows that a device did, or is to do, in one run.
struct WindowWork {
  double windows = 0;
  Seconds audio{};   ///< in all of them
  Seconds busy{};    ///< that it took; not known for work that is still to be done
  int capacity = 1;  ///< windows in flight at most
};

/// What a window costs a device: fixed + audio / speed of its time, as a line through what the windows of whole runs
/// have cost. Runs are counted whole, because windows in flight share their time: while one is encoded the others wait.
/// Only runs with windows of different lengths show how much is fixed. Until then it is supposed, and the farther the
/// requested windows are from those that were measured, the less is known. Pure.
class WindowCost {
 public:
  /// runs: with windows, audio and busy time, at least one; the latest first.
  explicit WindowCost(std::span<const WindowWork> runs);

  Seconds fixed() const;
  double speed() const;
  /// Audio seconds a second in windows of that length.
  double through(Seconds window) const;
  /// By which the time of such work may be off, relative: one standard deviation.
  double error(const WindowWork& work) const;

 private:
  /// Relative to the mean window.
  double length(Seconds window) const { return window / mean_ - 1; }
  void draw_line(std::span<const WindowWork> runs);

  Seconds mean_{};          // mean length of the windows measured
  Seconds cost_{};          // cost of a window of that length
  double share_ = 0;        // share of that cost that goes by the audio; the rest is fixed
  double level_doubt_ = 0;  // variance of the cost, relative, as supposed
  double share_doubt_ = 0;  // variance of the share
  double scatter_ = 1;      // how much more than supposed the runs differ from the line, as a factor of variances
};

}  // namespace tutti
