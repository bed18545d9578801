#pragma once

#include "feed/bad_samples.h"
#include "feed/options.h"
#include "feed/plan/board.h"
#include "feed/stages/row.h"
#include "flow/stage_loops.h"

namespace tutti {

/// From samples in the order of the epoch to rows of batches. One thread.
class PlanStage {
 public:
  PlanStage(const FeedOptions& options, PlanBoard& board, BufferPool& buffers, BadSamples& bad)
      : options_(options), board_(board), buffers_(buffers), bad_(bad) {}

  Result<void> take(Probed probed, const Emit<RowPtr>& emit);

 private:
  enum class Next { choose, replace, stop };

  Result<void> begin(const Emit<RowPtr>& emit);
  Result<void> hand_out(const Emit<RowPtr>& emit);
  template <class Ready, class Then>
  auto await(Ready ready, Then then);
  Next await_space();
  PlannedBatch chosen();
  void start_batch(const PlannedBatch& planned, const Emit<RowPtr>& emit);
  void await_first(std::int64_t number);
  void replace_holes(const Emit<RowPtr>& emit);

  const FeedOptions& options_;
  PlanBoard& board_;
  BufferPool& buffers_;
  BadSamples& bad_;
  bool has_begun_ = false;
  StageWork ahead_{};  // what was done since the last batch was chosen: the next one waits for it
  std::deque<std::shared_ptr<PendingBatch>> works_;  // the planner's batches in flight, and a few before them
};

}  // namespace tutti
