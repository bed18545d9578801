#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "feed/batch.h"
#include "feed/options.h"
#include "flow/report.h"
#include "metrics/histogram.h"

namespace tutti {

class PackedSet;

/// What a feed has done since it was opened, or since an earlier report. Plain data.
struct FeedReport {
  PipelineReport stages;     ///< busy, starved and blocked per stage: order, probe, plan, read ... batch
  std::int64_t batches = 0;  ///< handed out
  std::int64_t samples = 0;
  std::int64_t real_frames = 0;
  std::int64_t padded_frames = 0;  ///< rows times T, the real ones included
  std::int64_t bad_samples = 0;    ///< different ids
  std::string last_bad{};          ///< "ID: REASON" of the last of them
  Seconds held_up{};        ///< that `next` waited for a batch while a later one was whole: BatchOrder::any saves them
  HistogramSnapshot waits;  ///< seconds that `next` waited, per batch: training time lost where nothing is buffered

  /// Share of the frames that is padding, 0 to 1, as batches are handed out: a task may yet fill some up.
  double padding_share() const {
    return padded_frames == 0 ? 0 : 1 - static_cast<double>(real_frames) / static_cast<double>(padded_frames);
  }
  /// All bad samples stay: each is counted once, whenever it was found.
  FeedReport since(const FeedReport& before) const;
};

/// Training input: a set of recordings with text, as batches of log-mel features in a reproducible random order.
///
/// Batches, their order and every augmentation follow from the options marked (*) alone: not from thread counts, not
/// from timing, not from where a run was interrupted. With BatchOrder::any the order also follows from timing. Bad
/// samples are left out, reported, and replaced by others. Destroying the feed stops it. `next` belongs to one thread;
/// `report` to any.
class Feed {
 public:
  /// Reads the set's index, not its audio, and starts the threads. Errors: no such data, an option that cannot be
  /// intended, a position of another set or of other options.
  static Result<Feed> open(FeedOptions options);
  Feed(Feed&&) noexcept;
  Feed& operator=(Feed&&) noexcept;
  ~Feed();

  /// The next batch; waits for it. Empty after the last epoch. An error ends the feed: too many bad samples, or
  /// an epoch of nothing else (Fault::corrupt), or a broken machine.
  Result<std::optional<Batch>> next();

  /// From now on so many finished batches more than FeedOptions::ready may wait for `next`; each costs its buffer.
  /// Batches and their order stay. Any thread, while the feed is there.
  void deepen(int more);

  /// Samples of one epoch for this rank, bad ones included, cut recordings counted once.
  std::int64_t samples_per_epoch() const;
  /// The set that batches are gathered from; null where samples are read one by one (FeedOptions::resident).
  std::shared_ptr<const PackedSet> packed() const;
  FeedReport report() const;
  /// What was concluded of how the set is to be read (Dataset::conclusion); empty: it states all itself.
  std::string conclusion() const;

 private:
  struct Parts;
  explicit Feed(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti
