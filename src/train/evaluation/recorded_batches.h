#pragma once

#include <vector>

#include "base/clock.h"
#include "feed/feed.h"
#include "train/report/training_recording.h"

namespace tutti {

/// Takes the batches of a feed for an evaluation, and notes when: what is between two of them is the decoder's time.
/// One thread.
class RecordedBatches {
 public:
  /// `feed` outlives it.
  explicit RecordedBatches(Feed& feed) : feed_(feed) {}

  Result<std::optional<Batch>> next();
  /// The recording of the evaluation, which ends now.
  RunRecording end() const;

 private:
  struct Taken {
    Clock::Instant requested{};
    Clock::Instant given{};
  };
  Feed& feed_;
  std::vector<Taken> taken_{};
  FeedReport at_work_{};  // of the second batch: with the feed's threads
};

}  // namespace tutti
