#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "advise/pipeline_model.h"

namespace tutti {

/// What the threads of a stage did, as shares of their time. The first three add up to 1.
struct StageShares {
  double busy = 0;
  double starved = 0;    ///< waiting for input, for a core or for the device
  double blocked = 0;    ///< waiting for space in the queue behind the stage
  double core_wait = 0;  ///< the part of `starved` with an item in hand, waiting for a core or for the device
};

/// Which items a replay plays, and until when: whichever end comes first.
struct ReplaySpan {
  std::size_t items = 4096;                                            ///< out of the last stage
  Seconds time = Seconds::max();                                       ///< time on the pipeline's own clock
  std::size_t first_item = 0;                                          ///< that the source gives
  std::size_t source_items = std::numeric_limits<std::size_t>::max();  ///< that it gives in all
};

struct ReplayResult {
  std::vector<Seconds> done_at{};     ///< when each item left the last stage, ascending
  std::vector<StageShares> stages{};  ///< over all of the replay, its first items included

  /// Items a second of the long run: what filled the pipeline, the first tenth, is left out.
  double rate() const;
};

/// Plays a pipeline through event by event, with the rules of `flow`: an item holds its thread until it is in the queue
/// behind the stage, and a core or the device only while it is worked on; cores, devices and space in a queue go to who
/// came first. Pure. `pipeline` has a stage, and every stage times.
ReplayResult replay(const PipelineModel& pipeline, const ReplaySpan& span = {});

/// Items a second from `from` to `to`, of the ascending times at which they were done. Between two items the count
/// grows evenly, so that a steady stream has the same rate over any interval. 0: there are none.
double rate_between(std::span<const Seconds> done_at, Seconds from, Seconds to);

}  // namespace tutti
