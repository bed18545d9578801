#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "public/tutti/feed.h"

namespace tutti {

/// Makes the batches of a kind of prepared set.
class SetFeed::Source {
 public:
  virtual ~Source() = default;
  /// As SetFeed::next.
  virtual std::optional<SetBatch> next() = 0;

  SetFacts facts{};
};

/// Fault::usage for a rank or a size that cannot be.
Result<void> check(const SetFeedOptions& options);

/// The rows of a batch that a rank has: every ranks-th of them. All ranks have as many: where rows are too few, the
/// first ones come twice.
std::vector<std::int64_t> rows_of_rank(const std::vector<std::int64_t>& rows, const SetFeedOptions& options);

/// A batch with its facts and no content yet.
SetBatch set_batch(const Batch& batch, std::int64_t rows);

}  // namespace tutti
