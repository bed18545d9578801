#pragma once

#include <limits>
#include <vector>

#include "advise/change.h"
#include "advise/recording.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What the settings of a command may come to.
struct RecordedBudget {
  int threads = 64;  ///< that flags set together; stages which share a flag count once
  /// Most items in all threads and queues together, as a multiple of those that the run could have there. Below 1: as
  /// for 1.
  double growth = std::numeric_limits<double>::infinity();
};

/// The budget of a run that took `used` of memory at its most, and is to take `allowed` at most. More items in work
/// take more memory in proportion at most, for some of it is not theirs.
///
/// Fault::usage where it took more already. No bound where one of the two is 0, which is for not known.
Result<double> growth_within(Bytes used, Bytes allowed);

/// The threads and queues that flags set, with which the replay of the recorded run is fastest: more by one at a time
/// where that gains most, or by one for two settings that limit one another. Nothing is taken away. A change for each
/// flag that is to change, named after the first of its stages. Pure.
std::vector<Change> tuned_settings(const RunRecording& recording, const RecordedBudget& budget);

}  // namespace tutti
