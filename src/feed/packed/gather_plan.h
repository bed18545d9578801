#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "feed/bad_samples.h"
#include "feed/options.h"
#include "feed/packed/packed_set.h"
#include "feed/plan/planner.h"
#include "feed/sample_order.h"

namespace tutti {

/// Which rows of a packed set make a batch.
struct GatherList {
  std::int64_t number = 0;  ///< Batch::index
  std::int64_t epoch = 0;
  std::int64_t frames = 0;              ///< T
  std::vector<std::int64_t> entries{};  ///< indices of its entries in the set
  std::string position{};               ///< Batch::position, without its prefix
  StageWork made_by{};                  ///< Batch::made_by
};

/// The batches of a run as lists of indices into a packed set. It follows the planner's rules as the streamed feed
/// does, but without waiting, for how long samples are and which are bad is known beforehand. One thread.
class GatherPlan {
 public:
  /// `options`, `set` and `bad` outlive it. `planner`: new, or restored from a position.
  GatherPlan(const FeedOptions& options, const PackedSet& set, BadSamples& bad, Planner planner, bool is_resumed);

  /// The next batch; none after the last epoch. Errors as Feed::next's.
  std::optional<Result<GatherList>> next();

 private:
  /// One step of the planner. False: there is nothing left to be done.
  Result<bool> go_on();
  Result<void> take(const Probed& next);
  Result<void> begin_again();
  Result<void> add(const Probed& next);
  Result<void> hand_out();
  void end_epoch();
  void settle();
  Result<void> note_bad(const PlannedBatch& batch);
  GatherList list_of(const PlannedBatch& batch, std::int64_t frames) const;
  std::vector<std::size_t> bad_rows(const PlannedBatch& batch) const;
  std::int64_t number_of(const PlannedSample& sample) const;

  const FeedOptions& options_;
  const PackedSet& set_;
  BadSamples& bad_;
  Planner planner_;
  SampleOrder order_;
  bool has_begun_ = false;
  bool is_ending_ = false;  // the epoch's order is through, what waits is handed out to the last
  GivenEpochs given_{};
  std::deque<std::int64_t> frames_{};  // T of the planner's batches in flight
  std::deque<GatherList> ready_{};
  std::optional<Error> failed_{};  // reported behind the batches that came before it
};

}  // namespace tutti
