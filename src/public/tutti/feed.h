#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// Which batches of a prepared set there are, of labelled clips or of a voice's.
struct SetFeedOptions {
  std::filesystem::path set{};   ///< the folder that `tutti prepare` wrote, or its file
  std::string part{"training"};  ///< of labelled clips also "validation" or "testing"
  std::int64_t batch_size = 32;  ///< clips of a batch; of a voice those of mean length
  std::int64_t epochs = 1;       ///< then `next` yields nothing more; 0: no end
  std::uint64_t seed = 0;
  int rank = 0;  ///< takes every `ranks`-th row of each batch, which has so many times `batch_size` clips
  int ranks = 1;
  std::string resume{};  ///< `position` of the last batch that was used; empty: from the start
};

/// A batch of a prepared set. Arrays are row-major; its holder's.
struct SetBatch {
  std::int64_t index = 0;  ///< 0 for the first batch of the run
  std::int64_t epoch = 0;
  std::int64_t rows = 0;
  std::int64_t frames = 0;  ///< T
  std::int64_t n_mels = 0;
  std::vector<float> features{};        ///< labelled: [rows, n_mels, T]; of a voice: [rows, T, n_mels]
  std::vector<std::int64_t> labels{};   ///< labelled: [rows]
  std::int64_t symbol_count = 0;        ///< S
  std::vector<std::int64_t> symbols{};  ///< of a voice: [rows, S], 0 behind a row's own
  std::vector<std::int64_t> symbol_lengths{}, frame_lengths{}, speakers{};  ///< of a voice: [rows]
  std::vector<float> pitch{}, energy{};  ///< of a voice: [rows, T]; pitch in Hz, 0: not voiced
  std::vector<std::string> ids{};
  std::string position{};
};

/// What a prepared set holds. Labelled: names of labels by number. Of a voice: its format as JSON.
struct SetFacts {
  std::int64_t rows = 0;  ///< of its part, those of other ranks included
  std::int64_t n_mels = 0;
  int rate = 0;  ///< Hz, of its audio
  std::vector<std::string> labels{};
  std::string format{};
};

/// Training input of a set that is prepared: clips with labels (`tutti prepare classifier`) or of a voice (`tutti
/// prepare tts`), in memory that is mapped. Batches follow from set and options alone. `next` belongs to one thread.
class SetFeed {
 public:
  /// Fault::missing where there is no such set, or no such part of it; Fault::usage for options that cannot be intended
  /// or a position of another set.
  static Result<SetFeed> open_labelled(const SetFeedOptions& options);
  static Result<SetFeed> open_voice(const SetFeedOptions& options);
  SetFeed(SetFeed&&) noexcept;
  SetFeed& operator=(SetFeed&&) noexcept;
  ~SetFeed();

  /// The next batch; empty after the last epoch. Waits for no disk but where the set is not in memory yet.
  std::optional<SetBatch> next();
  const SetFacts& facts() const;

  /// What makes batches (feed/set_feed_source.h).
  class Source;

 private:
  explicit SetFeed(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

}  // namespace tutti
