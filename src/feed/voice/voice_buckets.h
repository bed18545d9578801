#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/batch.h"
#include "feed/voice/voice_set.h"

namespace tutti {

/// Lengths of batches are rounded up to a multiple of these, so that few shapes come up.
inline constexpr std::int64_t kSymbolsStep = 8, kFramesStep = 32;

/// What every batch of a bucket has: rows, and the lengths that they are padded to.
struct BatchShape {
  std::int64_t rows = 0;
  std::int64_t symbols = 0;
  std::int64_t frames = 0;
  bool operator==(const BatchShape&) const = default;
};

/// The clips that a set has for training, by duration: batches of one bucket all have one shape, and about as many
/// frames as those of any other, so that a device sees no shape which it has not seen in the first epoch. Immutable;
/// thread-safe.
class VoiceBuckets {
 public:
  /// A batch has as many frames as `batch_size` clips of the mean length. No bucket's longest clip is more than a
  /// fourth longer than its shortest, but for rounding. `stretch`: how many times longer a clip may become in training.
  VoiceBuckets(const VoiceSet& set, std::int64_t batch_size, double stretch);

  std::int64_t shapes() const { return std::ssize(buckets_); }
  /// The shape of the batches that row `row` of the set's part for training is in.
  const BatchShape& shape_of(std::int64_t row) const {
    return buckets_[bucket_of_[static_cast<std::size_t>(row)]].shape;
  }
  /// Batches of an epoch, and the rows that they hold together.
  std::int64_t batches() const;
  std::int64_t rows() const;
  /// Rows of batch `number` of an epoch, of [0, batches()). `key`: of the epoch's order. Every row of the set is in one
  /// of them; a bucket's last batch is filled up with some of its first again.
  std::vector<std::int64_t> rows_of(std::int64_t number, std::uint64_t key) const;

 private:
  struct Bucket {
    BatchShape shape{};
    std::vector<std::int64_t> rows{};

    std::int64_t batches() const { return (std::ssize(rows) + shape.rows - 1) / shape.rows; }
  };
  void fill(std::span<const std::int64_t> frames, const VoiceSet& set, std::int64_t budget);

  std::vector<Bucket> buckets_{};         // the longest first
  std::vector<std::size_t> bucket_of_{};  // by row
};

/// Which epochs of such batches there are.
struct BucketedBatchOptions {
  std::int64_t epochs = 0;  ///< then `next` yields nothing more; 0: no end
  std::uint64_t seed = 0;
  std::uint64_t fingerprint = 0;  ///< fingerprint of the set
};

/// Batches of the buckets as indices of rows alone (SetRows), each epoch in a random order of its own. Nothing is
/// stored of an order, so that a training goes on anywhere at once. One thread.
class BucketedBatches {
 public:
  /// `position`: of the last batch that was used; empty: from the start. Fault::usage for one of another set, or of
  /// other buckets or another seed.
  static Result<BucketedBatches> open(std::shared_ptr<const VoiceBuckets> buckets, BucketedBatchOptions options,
                                      const std::string& position);

  std::optional<Batch> next();

 private:
  BucketedBatches(std::shared_ptr<const VoiceBuckets> buckets, BucketedBatchOptions options)
      : buckets_(std::move(buckets)), options_(options) {}
  std::uint64_t key() const;

  std::shared_ptr<const VoiceBuckets> buckets_;
  BucketedBatchOptions options_;
  std::int64_t index_ = 0;  // of the next batch, over all epochs
};

}  // namespace tutti
