#include "feed/sample_order.h"

#include <algorithm>

#include "base/random/counter_random.h"
#include "feed/options.h"

namespace tutti {

SampleOrder::SampleOrder(const FeedOptions& options, std::int64_t size, std::int64_t epoch, std::int64_t cursor)
    : seed_(options.seed),
      shuffle_(options.shuffle),
      epochs_(options.epochs),
      rank_(options.rank),
      ranks_(options.ranks),
      size_(options.max_samples > 0 ? std::min(options.max_samples, size) : size),
      count_((size_ - rank_ + ranks_ - 1) / ranks_),
      epoch_(epoch),
      cursor_(cursor) {
  begin_epoch(epoch);
}

void SampleOrder::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  permutation_.reset();
  if (shuffle_) permutation_.emplace(size_, mixed({seed_, digest("order"), static_cast<std::uint64_t>(epoch)}));
}

std::optional<Probed> SampleOrder::next() {
  Probed probed;
  if (!has_begun_) {
    has_begun_ = true;
    probed.kind = Probed::Kind::begin;
    return probed;
  }
  if (epochs_ > 0 && epoch_ >= epochs_) return std::nullopt;
  probed.epoch = epoch_;
  if (cursor_ >= count_) {
    probed.kind = Probed::Kind::end_of_epoch;
    begin_epoch(epoch_ + 1);
    cursor_ = 0;
    return probed;
  }
  probed.cursor = cursor_++;
  const std::int64_t index = rank_ + ranks_ * probed.cursor;
  probed.index = permutation_ ? permutation_->at(index) : index;
  return probed;
}

}  // namespace tutti
