#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What a batch may hold.
struct BatchRules {
  std::int64_t most_samples = 16;
  std::int64_t most_frames = 0;  ///< samples times the longest; 0: no limit. A single sample is always allowed
  bool by_length = true;         ///< false: in the order they came
};

/// Which waiting samples make the next batch, as indices into `frames` (mel frames of each, oldest first), in the order
/// they shall have. The oldest is always among them, so nothing waits for ever. The others are of like length, so many
/// that no other fits beside them: what is left of an epoch would else leave one by one. The batch is the one with the
/// least padding among those. Pure.
std::vector<std::size_t> choose_batch(std::span<const std::int32_t> frames, const BatchRules& rules);

/// The waiting sample that fits best beside others of up to `longest` frames: the longest not above it, else the
/// shortest. `frames` is not empty. Pure.
std::size_t choose_replacement(std::span<const std::int32_t> frames, std::int32_t longest);

/// Which epochs have given a batch. A set of which nothing can be used would be read for ever where epochs have no end:
/// one whole epoch without a batch shows it.
class GivenEpochs {
 public:
  /// Epochs from this one on are whole; of those before it an interrupted run may have given everything.
  void expect_whole_from(std::int64_t epoch) { first_whole_ = epoch; }
  /// A batch that holds something was handed on; epochs come in their order.
  void note(std::int64_t epoch) { last_ = epoch; }
  /// Once all epochs before `epoch` are through: whether the last of them was whole and gave nothing.
  bool was_empty_before(std::int64_t epoch) const { return epoch > first_whole_ && last_ < epoch - 1; }

 private:
  std::int64_t first_whole_ = 0;
  std::int64_t last_ = -1;  // none yet
};

/// A sample by its index in the set, and how long it will be.
struct PlannedSample {
  std::int64_t index = 0;   ///< number of the dataset's line
  std::int32_t piece = -1;  ///< number of the piece, where a recording is cut; -1: the line as a whole
  std::int32_t frames = 0;  ///< mel frames expected

  bool operator==(const PlannedSample&) const = default;
};

/// Which samples make a batch. Its shape is theirs.
struct PlannedBatch {
  std::int64_t number = 0;
  std::int64_t epoch = 0;
  std::vector<PlannedSample> samples{};
};

/// Decides which samples go together, in an order that follows from its input alone.
///
/// Samples arrive in the epoch's order and wait in a window; batches are chosen among them once it is full. A batch
/// whose samples turn out bad gets others from the window, and always at the same moment: just before the batch `depth`
/// batches behind it is chosen. So neither the speed of audio decoding nor an interruption changes anything. Plain data
/// and rules: no threads, no files.
class Planner {
 public:
  Planner(BatchRules rules, std::int64_t window, std::size_t depth)
      : rules_(rules), window_size_(static_cast<std::size_t>(window)), depth_(depth) {}

  // What arrives, in order.
  /// Index `cursor` of the epoch's order gave these samples: one, the pieces of a long one, none for a bad one.
  void add(std::int64_t cursor, const std::vector<PlannedSample>& samples);
  /// The epoch's order is through: what waits is handed out to the last.
  void end_order() { is_order_over_ = true; }
  /// After the last batch of an epoch has been chosen.
  void begin_epoch();

  // What is to be done.
  bool wants_batch() const { return is_order_over_ ? !window_.empty() : window_.size() >= window_size_; }
  bool has_space() const { return in_flight_.size() < depth_; }
  /// The next batch; `wants_batch` and `has_space` hold.
  const PlannedBatch& choose();
  /// Replaces bad samples of the oldest batch by waiting ones; rows for which none is left get index -1. Called when
  /// `wants_batch` holds and `has_space` does not, or when the epoch's window is empty.
  const PlannedBatch& replace(const std::vector<std::size_t>& bad_rows);
  /// The oldest batch is done.
  void resolve() { in_flight_.pop_front(); }
  /// The batch of that number is, which is in flight.
  void resolve(std::int64_t number);

  /// Chosen and not resolved, oldest first.
  const std::deque<PlannedBatch>& in_flight() const { return in_flight_; }
  /// Arrived and not chosen yet, oldest first.
  const std::deque<PlannedSample>& waiting() const { return window_; }
  /// How many batches are done.
  std::int64_t resolved() const { return next_number_ - std::ssize(in_flight_); }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t cursor() const { return cursor_; }
  /// Nothing of epochs before it is still to come.
  std::int64_t oldest_epoch() const { return in_flight_.empty() ? epoch_ : in_flight_.front().epoch; }
  /// Whether batches of `epoch` can still get replacements.
  bool is_drained(std::int64_t epoch) const { return epoch < epoch_ || (is_order_over_ && window_.empty()); }

  /// Everything above, for a checkpoint.
  std::string save() const;
  /// Fault::corrupt where `saved` is not what `save` wrote.
  Result<void> restore(std::string_view saved);

 private:
  std::vector<std::int32_t> waiting_frames() const;

  BatchRules rules_;
  std::size_t window_size_;
  std::size_t depth_;
  std::int64_t epoch_ = 0;
  std::int64_t cursor_ = 0;  // indices of the epoch's order that have arrived
  std::int64_t next_number_ = 0;
  bool is_order_over_ = false;
  std::deque<PlannedSample> window_;
  std::deque<PlannedBatch> in_flight_;
};

}  // namespace tutti
