#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "feed/ring/ring.h"
#include "profile/tuning_store.h"
#include "train/batch_ring.h"

namespace tutti {

/// What decides how many batches wait for the steps of a training.
struct RingRequest {
  std::string training{};  ///< the command, and what changes the cost of its batches and steps
  std::int32_t depth = 0;  ///< by the recipe; 0: left open
  Bytes memory{
      256'000'000};       ///< that the waiting batches may take where their number is chosen; 0: none beyond the usual
  bool has_feed = false;  ///< batches may wait in a feed, too, in memory of this machine
};

/// RingRequest::training. `kind`: the word behind `tutti train`; `network`: what of its shape changes the cost of a
/// step.
std::string ring_training(std::string_view kind, const std::filesystem::path& data, std::int64_t batch_size,
                          const std::string& network, const std::string& device);

/// How deep the ring of a training is. Where the recipe leaves it open, it begins as an earlier training like it on
/// this machine ended, else as usual, and deepens itself where that pays. What a training yields does not depend on it.
/// One thread.
class RingChoice {
 public:
  explicit RingChoice(RingRequest request);

  /// For the ring; `wait_behind` and `in_step` are the caller's.
  const BatchRingOptions& options() const { return options_; }
  /// Batches more that may wait in the feed from the start.
  int behind() const { return behind_; }
  /// The training has ended with such a ring: the next one like it begins with that.
  void remember(const RingReport& ring) const;

 private:
  std::optional<TuningKey> key_{};  // none: nothing is chosen
  BatchRingOptions options_{};
  int behind_ = 0;
};

}  // namespace tutti
