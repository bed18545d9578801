#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feed/feed.h"
#include "feed/ring/ring.h"
#include "train/task.h"

namespace tutti {

/// Seconds of training steps and of waiting for feeds, over some stretch of a training.
struct StepTimes {
  double stepping = 0;
  double waiting = 0;
};

/// The numbers of feed, ring and steps over the same stretch as people read them, a line each: what every stage that
/// was not through with its work did with its time, how deep the ring is and how long steps waited for it, how much of
/// what the steps computed was padding, and how much of what they had to; and, where waiting took more than a twentieth
/// of the time, which stage holds the others up. What was not waited for the ring was for the feeds of other processes.
/// `feed`: none where the ring's thread gathers the batches.
std::vector<std::string> epoch_report(const std::optional<FeedReport>& feed, const RingReport& ring,
                                      const StepTimes& times, const FrameCounts& frames);

}  // namespace tutti
