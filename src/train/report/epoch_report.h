#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "advise/training_phases.h"
#include "feed/ring/ring.h"
#include "public/tutti/feed.h"
#include "train/task.h"

namespace tutti {

/// Seconds of training steps and of waiting for feeds, over some stretch of a training.
struct StepTimes {
  double stepping = 0;
  double waiting = 0;
};

/// The numbers of feed, ring and steps over one stretch as people read them, a line each: what every stage that
/// was not through with its work did with its time, how deep the ring is and how long steps waited for it, how much of
/// what the steps computed was padding, and how much of what they had to; and, where waiting took more than a twentieth
/// of the time, which stage holds the others up. What was not waited for the ring was for the feeds of other processes.
/// `feed`: none where the ring's thread gathers the batches.
std::vector<std::string> epoch_report(const std::optional<FeedReport>& feed, const RingReport& ring,
                                      const StepTimes& times, const FrameCounts& frames);

/// An epoch as the warning about a device with little to do sees it.
struct EpochUse {
  TrainingUse use{};
  std::string device{};  ///< "cuda:0"
  double batch = 0;      ///< samples in a batch
};

/// Field note 003's warning: its first line, then the one cause there is (feed, launch or batch), the value of now, and
/// what is predicted to be gained. None where the device was busy for kLowUse of the time or more. `found`: the
/// diagnosis of `recording`, the epoch's; none where its replay does not explain the epoch. Pure.
std::vector<std::string> low_use_warning(const EpochUse& epoch, const RunRecording& recording,
                                         const std::optional<Diagnosis>& found);

/// How long the steps of an epoch waited for their batches, as field note 003's profile shows it: "[TRAIN PROFILE]
/// DataLoader avg: 25.3ms, max: 78.1ms, median: ..., min: ...; above 50 ms: 3 of 120, every 40 steps", and what of it
/// is slow by the note's bounds: a mean above 30 ms, spikes in more than a twentieth of the steps. Empty of no step.
/// Pure. Safe from any thread.
std::string loader_line(const std::vector<Seconds>& waits);

}  // namespace tutti
