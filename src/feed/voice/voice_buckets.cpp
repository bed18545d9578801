#include "feed/voice/voice_buckets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "feed/sample_order.h"

namespace tutti {

VoiceBuckets::VoiceBuckets(const VoiceSet& set, std::int64_t batch_size, double stretch) {
  std::vector<std::int64_t> frames;
  for (const auto clip : set.part(VoicePart::training))
    frames.push_back(std::llround(std::ceil(static_cast<double>(set.frames(clip)) * stretch)));
  const auto all = std::accumulate(frames.begin(), frames.end(), std::int64_t{0});
  fill(frames, set, batch_size * all / std::max<std::int64_t>(std::ssize(frames), 1));
}

/// From the longest on, every bucket takes what is at least four fifths as long as its longest, and down to a multiple
/// of kFramesStep, so that no two have the same frames.
void VoiceBuckets::fill(std::span<const std::int64_t> frames, const VoiceSet& set, std::int64_t budget) {
  const auto clips = set.part(VoicePart::training);
  std::vector<std::size_t> order(frames.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t row) { return frames[row]; });
  bucket_of_.resize(frames.size());
  std::int64_t least = 0;  // frames of a clip that is too short for the bucket
  for (const auto row : order) {
    if (buckets_.empty() || frames[row] <= least) {
      const auto top = rounded_up(frames[row], kFramesStep);
      least = std::min(top - kFramesStep, top * 4 / 5 / kFramesStep * kFramesStep);
      buckets_.push_back({.shape = {.frames = top}});
    }
    auto& bucket = buckets_.back();
    bucket_of_[row] = buckets_.size() - 1;
    bucket.rows.push_back(static_cast<std::int64_t>(row));
    bucket.shape.symbols = std::max(bucket.shape.symbols, rounded_up(set.symbols(clips[row]), kSymbolsStep));
  }
  for (auto& [shape, rows] : buckets_) {
    shape.rows = std::clamp<std::int64_t>(budget / shape.frames, 1, std::ssize(rows));
    std::ranges::sort(rows);
  }
}

std::int64_t VoiceBuckets::batches() const {
  std::int64_t all = 0;
  for (const auto& bucket : buckets_) all += bucket.batches();
  return all;
}

std::int64_t VoiceBuckets::rows() const {
  std::int64_t all = 0;
  for (const auto& bucket : buckets_) all += bucket.batches() * bucket.shape.rows;
  return all;
}

std::vector<std::int64_t> VoiceBuckets::rows_of(std::int64_t number, std::uint64_t key) const {
  auto batch = Permutation(batches(), key).at(number);
  std::size_t at = 0;
  for (; batch >= buckets_[at].batches(); ++at) batch -= buckets_[at].batches();
  const auto& [shape, rows] = buckets_[at];
  const Permutation order(std::ssize(rows), mixed({key, at}));
  std::vector<std::int64_t> made;
  for (std::int64_t i = 0; i < shape.rows; ++i)
    made.push_back(rows[static_cast<std::size_t>(order.at((batch * shape.rows + i) % std::ssize(rows)))]);
  return made;
}

/// What a position fits.
std::uint64_t BucketedBatches::key() const {
  return mixed({options_.fingerprint, static_cast<std::uint64_t>(buckets_->batches()),
                static_cast<std::uint64_t>(buckets_->rows()), options_.seed, digest("buckets")});
}

Result<BucketedBatches> BucketedBatches::open(std::shared_ptr<const VoiceBuckets> buckets, BucketedBatchOptions options,
                                              const std::string& position) {
  BucketedBatches made(std::move(buckets), options);
  if (position.empty()) return made;
  std::istringstream text(position);
  std::uint64_t key = 0;
  text >> key >> made.index_;
  if (!text || made.index_ < 0)
    return fail(Fault::corrupt, "the checkpoint's position in the data cannot be read: '" + position + "'");
  if (key != made.key())
    return fail(Fault::usage,
                "the checkpoint was trained on another set, or with another batch size, seed or speed-share",
                "Go on with the data and the settings that the training began with");
  return made;
}

std::optional<Batch> BucketedBatches::next() {
  const auto batches = buckets_->batches();
  if (batches == 0) return std::nullopt;
  const auto epoch = index_ / batches;
  if (options_.epochs > 0 && epoch >= options_.epochs) return std::nullopt;
  const auto order = mixed({options_.seed, static_cast<std::uint64_t>(epoch), digest("batches of buckets")});
  Batch batch{.index = index_, .epoch = epoch, .content = buckets_->rows_of(index_ % batches, order)};
  ++index_;
  batch.position = std::to_string(key()) + " " + std::to_string(index_);
  return batch;
}

}  // namespace tutti
