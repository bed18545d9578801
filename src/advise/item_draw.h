#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "advise/pipeline_model.h"

namespace tutti {

/// The times of a stage's items, as a pipeline file describes them.
struct TimesDescription {
  Seconds mean{};          ///< mean time of an item, stalls left out
  double variation = 0;    ///< standard deviation over mean of a log-normal distribution; 0: every item is alike
  double stall_share = 0;  ///< share of the items that stall, 0 to 1
  Seconds stall{};         ///< added to the time of these
};

/// `count` items that follow `description`, in seconds: log-normal with that mean and deviation, by inversion of the
/// distribution at stratified numbers in (0, 1). The same key gives the same items; the first of them do not depend on
/// `count`.
///
/// The draw is stratified, so that a short run shows what a long one would: any 128 items from a multiple of 128 on
/// hold one of each 128th of the distribution, any 4,096 one of each 4,096th, in random order. Of each 4 / stall_share
/// items, 4 stall. Neighbours are as good as independent, which is what queues are about.
///
/// Stalls come in fours for the same reason: where each had its own stretch of items, they would be too regular, and a
/// queue would seem to bridge more of them than it does. Times are not rounded, and none is negative. Pure.
std::vector<ItemTime> draw_items(const TimesDescription& description, std::size_t count, std::uint64_t key);

}  // namespace tutti
