#pragma once

#include <cstdint>
#include <optional>

#include "feed/permutation.h"
#include "feed/stages/row.h"

namespace tutti {

struct FeedOptions;

/// The samples of a run, one after the other: epoch after epoch, each in an order of its own, this rank's share of it.
/// Begins anywhere at once. One thread.
class SampleOrder {
 public:
  /// `size`: lines of the set.
  SampleOrder(const FeedOptions& options, std::int64_t size, std::int64_t epoch, std::int64_t cursor);

  /// The next sample or mark; none after the last epoch.
  std::optional<Probed> next();
  /// Samples of an epoch.
  std::int64_t count() const { return count_; }
  /// Different ones over all epochs: ranks share every epoch again where it is shuffled.
  std::int64_t different() const { return shuffle_ ? size_ : count_; }

 private:
  void begin_epoch(std::int64_t epoch);

  std::uint64_t seed_;
  bool shuffle_;
  std::int64_t epochs_;
  std::int64_t rank_, ranks_;
  std::int64_t size_;
  std::int64_t count_;
  std::int64_t epoch_;
  std::int64_t cursor_;
  bool has_begun_ = false;
  std::optional<Permutation> permutation_{};
};

}  // namespace tutti
