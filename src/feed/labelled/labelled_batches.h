#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"

namespace tutti {

/// Which rows make the batches of a training.
struct LabelledBatchOptions {
  std::int64_t rows = 0;
  std::int64_t batch_size = 1;
  std::int64_t epochs = 0;  ///< then `next` yields nothing more; 0: no end
  std::uint64_t seed = 0;
  std::uint64_t fingerprint = 0;  ///< fingerprint of the set
  /// Length of each row, where rows of like length are to share a batch, which saves padding; empty: they need not.
  std::vector<std::int64_t> lengths{};
};

/// A batch that keeps at least `least_steps` steps in an epoch: `most`, or less on a small set.
std::int64_t batch_of(std::int64_t rows, std::int64_t most, std::int64_t least_steps);

/// Batches as indices of rows alone (SetRows), each epoch in a random order of its own; the last of an epoch may be
/// smaller. Nothing is stored of an order, so that a training goes on anywhere at once. One thread.
class LabelledBatches {
 public:
  /// `position`: of the last batch that was used; empty: from the start. Fault::usage for one of another set, or of
  /// another batch size or seed.
  static Result<LabelledBatches> open(LabelledBatchOptions options, const std::string& position);

  std::optional<Batch> next();
  /// Rows of an epoch.
  std::int64_t rows() const { return options_.rows; }

 private:
  explicit LabelledBatches(LabelledBatchOptions options) : options_(std::move(options)) {}
  std::vector<std::int64_t> rows_here() const;
  std::string position() const;

  LabelledBatchOptions options_;
  std::int64_t epoch_ = 0;
  std::int64_t cursor_ = 0;  // rows of the epoch that were handed out
  std::int64_t index_ = 0;
};

}  // namespace tutti
