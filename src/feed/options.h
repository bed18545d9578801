#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "audio/augment/augmentation.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// How far rows are filled up.
enum class Padding {
  bucket,  ///< to the longest row of the batch: samples of like length go together
  window,  ///< to the model's window, as Whisper was trained; only real frames are computed all the same
};

/// In which order batches are handed on.
enum class BatchOrder {
  planned,  ///< the one in which they were chosen
  any,      ///< as they are whole, within an epoch: a slow file delays its own batch alone
};

/// What becomes of recordings that are longer than the window, where the times of their text are known.
enum class Chunking {
  refused,     ///< they are bad samples, as those are whose times are not known
  sequential,  ///< pieces as long as fit, one behind the other
  sliding,     ///< likewise, but each begins in the middle of the one before
  random,      ///< one behind the other, of half a window to a whole one: other pieces in every epoch
};

/// Threads of each stage. What a run yields does not depend on them.
struct FeedThreads {
  int probe = 1;
  int read = 1;
  int decode = 2;
  int resample = 2;
  int augment = 1;
  int features = 2;

  /// `computing` for each stage that computes. `reading`: files that are waited for at once, be it for their samples or
  /// for their headers; one disk is read fastest by one thread, a network answers several at once.
  static FeedThreads of(int computing, int reading = 1) {
    return {std::max(computing, reading), reading, computing, computing, computing, computing};
  }

  /// Threads that do all the work on each sample of a set that is packed: one thread reads it and computes it.
  int packing() const { return std::max(read, features); }
};

/// How many bad samples a set may have before the run stops. Both count samples, not lines read again in later epochs.
struct BadSampleLimits {
  std::int64_t count = 10'000;  ///< more stop the run
  double share = 0.1;           ///< share of the samples looked at that may be bad, once `after` have been; 1: no limit
  std::int64_t after = 200;
};

/// The cache of features: half precision, keyed by each file's content and by everything that makes features of it. Off
/// while `folder` is empty, and where augmentation changes the audio.
struct FeatureCacheOptions {
  std::filesystem::path folder{};
  Bytes most{8LL << 30};  ///< on disk; when full, what was stored first goes first
};

/// Where the features of a set are while it is learned. All but `stream` are packed once into one file in the cache's
/// folder; batches are then gathered from it by index.
enum class Residence {
  stream,  ///< nowhere: each sample is read, or computed, when its batch is made
  mapped,  ///< in that file, mapped: memory holds as much as fits, and all processes of a machine share it
  memory,  ///< in memory of the process's own
  device,  ///< where the consumer put them (Feed::packed): batches hold what to gather (BatchGather)
};

/// A packed set needs a cache, audio that no augmentation changes, and pieces that are the same in every epoch.
struct ResidentOptions {
  Residence where = Residence::stream;
  Bytes space{};  ///< that `memory` or `device` may take; what needs more is refused before any work. 0: not known
};

/// Everything that makes a feed. Order, batches and augmentation depend on the set, the fields marked (*) and nothing
/// else; a position fits only a feed that agrees in them.
struct FeedOptions {
  std::filesystem::path data{};  ///< (*) a folder in a known layout, or a manifest (see feed/source/dataset.h)
  std::string split{};           ///< (*) "train", "validation", "test" of layouts that have them; empty: everything
  std::int64_t max_samples = 0;  ///< (*) only the first so many lines; 0: all
  std::vector<std::string> fields{};  ///< further columns to hand through, "condition"

  bool times = false;  ///< also the times of the text, where the source has them (BatchSample::times and words)

  std::uint64_t seed = 0;   ///< (*)
  std::int64_t epochs = 1;  ///< then `next` yields nothing more; 0: no end
  bool shuffle = true;      ///< (*) false: the order of the manifest, as evaluation wants it
  int rank = 0;             ///< (*) this process takes every `ranks`-th sample of the order, from the rank-th on
  int ranks = 1;            ///< (*)

  int n_mels = 80;                           ///< (*)
  Seconds window{30};                        ///< (*) of the model; longer audio is cut at known times, or refused
  Chunking chunking = Chunking::sequential;  ///< (*) how
  Padding padding = Padding::bucket;         ///< (*)
  int frame_multiple = 2;                    ///< (*) T is a multiple of it: fewer shapes, a little more padding
  int batch_size = 16;                       ///< (*) most samples in a batch
  Seconds batch_audio{0};       ///< (*) most audio in a batch, padding included; 0: `batch_size` alone decides
  int look_ahead = 512;         ///< (*) samples among which those of like length are chosen; 1: the plain order
  Augmentation augmentation{};  ///< (*) off by default
  bool keyed_tone = false;  ///< (*) features are of the keyed tone alone (audio/tone_filter.h), once audio is changed
  /// Rows come as audio, with what was drawn for them (BatchClips), and a device makes features of them; by default
  /// the feed's own threads do.
  bool as_audio = false;

  FeedThreads threads{};
  int ready = 2;  ///< finished batches that may wait for `next`; each costs its buffer
  /// `any`: each sample comes once an epoch all the same, also behind a position; but batches then depend on timing. A
  /// packed set, whose samples all take as long, keeps the planned order.
  BatchOrder order = BatchOrder::planned;
  BadSampleLimits bad_limits{};
  std::filesystem::path bad_samples{};  ///< JSON lines with id and reason; empty: only counted
  FeatureCacheOptions cache{};          ///< (*) whether there is one: with it, features are rounded to half precision
  ResidentOptions resident{};           ///< changes no batch
  const Clock* clock = &Clock::real();  ///< outlives the feed

  /// Batch::position of the last batch that was used; empty: from the start.
  std::string resume{};
};

/// An error that names the option, what was expected and what was found.
Result<void> check(const FeedOptions& options);

/// A digest of the set and of every option that decides what batches hold: a position fits where it is the same.
std::uint64_t fingerprint_of(const FeedOptions& options, std::uint64_t set);

}  // namespace tutti
