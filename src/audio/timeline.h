#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audio/losses.h"
#include "base/units.h"

namespace tutti {

/// What the time stamps of a container mean.
struct TimelineRules {
  bool may_restart = false;        // they may jump anywhere without a meaning: transport streams
  std::optional<Seconds> start{};  // where the file's clock, that of its picture, begins; none: with the audio
  std::optional<Seconds> end{};    // where it ends; none: the header does not say
};

/// Keeps the audio that a decoder delivers on the clock of its container. Returns how much silence belongs before a
/// frame, so that times in the audio are times of the picture. Audio is never cut. Pure; reports what it found at the
/// end.
class Timeline {
 public:
  explicit Timeline(const TimelineRules& rules) : rules_(rules) {}

  /// For each frame in turn: its time stamp, none where the container gives none, and its length. Returns the silence
  /// that belongs before it.
  Seconds silence_before(std::optional<Seconds> stamp, Seconds length);
  /// From here on the time stamps cannot be trusted.
  void stop() { is_stopped_ = true; }
  /// Silence before the first frame.
  Seconds lead() const { return lead_; }
  /// What was found: large holes into `losses`; small ones as their sum, and that the audio begins late, into `notes`.
  void report(Losses& losses, Losses& notes) const;

 private:
  struct Hole {
    Seconds at{}, length{};
  };
  Seconds first_origin(Seconds own) const;
  Seconds fill(Seconds stamp, Seconds drift);
  void restart(Seconds stamp) { origin_ = stamp - delivered_; }
  bool is_believable(Seconds stamp, Seconds drift) const;

  TimelineRules rules_;
  std::optional<Seconds> origin_{};  // the time stamp of the first sample, silence included
  Seconds delivered_{0};             // silence included
  Seconds lead_{0};
  std::vector<Hole> large_{};  // reported one by one
  std::vector<Hole> small_{};  // reported as a sum
  std::vector<Hole> jumps_{};  // jumps of the clock, not filled
  bool is_stopped_ = false;
};

}  // namespace tutti
