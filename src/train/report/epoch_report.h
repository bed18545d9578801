#pragma once

#include <string>
#include <vector>

#include "feed/feed.h"

namespace tutti {

/// Seconds of training steps and of waiting for the feed, over some stretch of a training.
struct StepTimes {
  double stepping = 0;
  double waiting = 0;
};

/// The feed's numbers as people read them, a line each: what every stage did with its time, how long batches were
/// waited for, how much of them is padding; and, where waiting took more than a twentieth of the time, which stage
/// holds the others up.
std::vector<std::string> epoch_report(const FeedReport& feed, const StepTimes& times);

}  // namespace tutti
