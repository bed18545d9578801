#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "feed/bad_samples.h"
#include "feed/buffers.h"
#include "feed/options.h"
#include "feed/plan/board.h"
#include "feed/plan/planner.h"
#include "feed/stages/row.h"
#include "flow/stage_loops.h"

namespace tutti {

/// From rows, in whatever order they are ready, to batches in theirs, or with BatchOrder::any as they are whole. One
/// thread.
class BatchStage {
 public:
  /// `prefix` goes in front of every position.
  BatchStage(std::string prefix, const FeedOptions& options, PlanBoard& board, BufferPool& buffers, BadSamples& bad)
      : prefix_(std::move(prefix)), options_(options), board_(board), buffers_(buffers), bad_(bad) {}

  /// Fault::corrupt where a whole epoch gave no batch: without an end of epochs there would never be one.
  Result<void> take(RowPtr row, const Emit<Batch>& emit);
  /// Before the first row: epochs from this one on are whole, those before it were begun by an interrupted run.
  void expect_whole_from(std::int64_t epoch) { given_.expect_whole_from(epoch); }

 private:
  struct Progress {
    std::shared_ptr<PendingBatch> work{};
    std::size_t missing = 0;
    std::vector<std::size_t> bad{};
    StageWork made_by{};
  };

  /// A batch that is done: what it is the how many-th of, and the position behind it.
  struct Settled {
    std::int64_t index = 0;
    std::string position{};
  };
  using Batches = std::map<std::int64_t, Progress>;

  Result<void> note(PendingSample& row);
  /// Whether all of its rows are there, none of them bad.
  static bool is_whole(const Progress& progress) { return progress.missing == 0 && progress.bad.empty(); }
  void note_held_up();
  static Settled resolved(Planner& planner, std::int64_t number);
  Batches::iterator next_done(Settled& settled);
  /// Whether the batch is the oldest and done; holes that can be filled are handed to the plan stage.
  bool settle_oldest(Progress& oldest, Settled& settled);
  /// Whether the batch is whole and of the oldest one's epoch.
  bool settle_ahead(Progress& later, Settled& settled);
  /// With all epochs before `epoch` through.
  Result<void> check_before(std::int64_t epoch) const;
  Batch finished(Progress& progress) const;
  /// Those rows of what was made, filled up to the T of `batch`. Rows that were kept apart are gone then.
  void gather_features(PendingBatch& work, const std::vector<std::size_t>& kept, Batch& batch) const;

  std::string prefix_;
  const FeedOptions& options_;
  PlanBoard& board_;
  BufferPool& buffers_;
  BadSamples& bad_;
  Batches progress_;
  std::optional<Clock::Instant> held_up_since_{};  // a whole batch waits for an older one; none: none does
  GivenEpochs given_{};
};

}  // namespace tutti
