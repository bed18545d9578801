#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "feed/bad_samples.h"
#include "feed/buffers.h"
#include "feed/plan/board.h"
#include "feed/plan/planner.h"
#include "feed/stages/row.h"
#include "flow/stage_loops.h"

namespace tutti {

/// From rows, in whatever order they are ready, to batches in theirs. One thread.
class BatchStage {
 public:
  /// `prefix` goes in front of every position; `frame_multiple` as in the options.
  BatchStage(std::string prefix, int frame_multiple, PlanBoard& board, BufferPool& buffers, BadSamples& bad)
      : prefix_(std::move(prefix)), frame_multiple_(frame_multiple), board_(board), buffers_(buffers), bad_(bad) {}

  /// Fault::corrupt where a whole epoch gave no batch: without an end of epochs there would never be one.
  Result<void> take(RowPtr row, const Emit<Batch>& emit);
  /// Before the first row: epochs from this one on are whole, those before it were begun by an interrupted run.
  void expect_whole_from(std::int64_t epoch) { given_.expect_whole_from(epoch); }

 private:
  struct Progress {
    std::shared_ptr<PendingBatch> work{};
    std::size_t missing = 0;
    std::vector<std::size_t> bad{};
  };

  Result<void> note(PendingSample& row);
  /// Whether the oldest batch is done; holes that can be filled are handed to the plan stage.
  bool settle(Progress& oldest, std::string& position);
  /// With all epochs before `epoch` through.
  Result<void> check_before(std::int64_t epoch) const;
  Batch finished(Progress& progress) const;
  /// Those rows of what was made, filled up to the T of `batch`. Rows that were kept apart are gone then.
  void gather_features(PendingBatch& work, const std::vector<std::size_t>& kept, Batch& batch) const;

  std::string prefix_;
  int frame_multiple_;
  PlanBoard& board_;
  BufferPool& buffers_;
  BadSamples& bad_;
  std::map<std::int64_t, Progress> progress_;
  GivenEpochs given_{};
};

}  // namespace tutti
