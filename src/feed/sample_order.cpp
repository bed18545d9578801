#include "feed/sample_order.h"

#include <algorithm>

#include "base/random/counter_random.h"
#include "feed/options.h"

namespace tutti {

Permutation::Permutation(std::int64_t size, std::uint64_t key) : size_(static_cast<std::uint64_t>(size)), key_(key) {
  while ((std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

std::uint64_t Permutation::step(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::uint64_t next = left ^ (mixed({key_, round, right}) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::at(std::int64_t index) const {
  auto value = static_cast<std::uint64_t>(index);
  do value = step(value);
  while (value >= size_);
  return static_cast<std::int64_t>(value);
}

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
