#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// How long the steps of an epoch waited for their batches, as field note 003's profile shows it. One thread.
class LoaderTimes {
 public:
  void note(Seconds waited) { waits_.push_back(waited); }

  /// "[TRAIN PROFILE] DataLoader avg: 25.3ms, max: 78.1ms, median: ..., min: ...; above 50 ms: 3 of 120, every 40
  /// steps", and what of it is slow by the note's bounds: a mean above 30 ms, spikes in more than a twentieth of the
  /// steps. Empty where no step was noted.
  std::string line() const;

 private:
  std::vector<Seconds> waits_{};
};

/// Whether TRAINER_LOG_LEVEL is DEBUG, which requests that line.
bool wants_loader_times();

}  // namespace tutti
