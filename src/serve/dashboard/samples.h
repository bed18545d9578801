#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/units.h"

namespace tutti {

/// What the devices did in a stretch of time.
struct FleetSample {
  double at = 0;                 // Unix seconds, of its end
  double speed = 0;              // seconds of audio a second
  std::optional<double> busy{};  // share of the devices with something in work
};

/// Throughput over time, as far as a chart shows it: every five seconds of the last hour, every minute of the last day,
/// every half hour of the last thirty days. What was not seen (the server did not run, or nothing did) is a gap. Not
/// thread-safe.
class FleetSamples {
 public:
  /// What is seen at a moment: the audio done since some start. A count that falls is a new start.
  void add(double unix_seconds, Seconds audio_done, std::optional<double> busy);
  /// Nothing runs.
  void add_gap() { last_.reset(); }

  /// Those of the last `span` seconds, oldest first, in the finest steps that reach so far back.
  std::vector<FleetSample> since(double unix_seconds, double span) const;

 private:
  struct Level {
    double step;
    std::size_t most;
    std::deque<FleetSample> samples{};
    double begun = 0;  // start of the sample to come; 0: none is begun
    double audio = 0;
    double busy = 0;
    double time = 0;
  };
  struct Seen {
    double at;
    double audio;
  };

  std::optional<Seen> last_{};
  Level levels_[3] = {{.step = 5, .most = 720}, {.step = 60, .most = 1440}, {.step = 1800, .most = 1440}};
};

}  // namespace tutti
