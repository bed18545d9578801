#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/try.h"
#include "feed/set_feed_source.h"
#include "feed/voice/voice_buckets.h"
#include "feed/voice/voice_set.h"

namespace tutti {
namespace {

const float kSilence = std::log(1e-5F);  // the least value of a set's spectrograms

/// The rows of each batch, and the lengths that they are padded to.
class VoiceSetSource final : public SetFeed::Source {
 public:
  VoiceSetSource(SetFeedOptions options, std::shared_ptr<const VoiceSet> set,
                 std::shared_ptr<const VoiceBuckets> buckets, BucketedBatches batches)
      : options_(std::move(options)), set_(std::move(set)), buckets_(std::move(buckets)), batches_(std::move(batches)) {
    facts = {.rows = std::ssize(clips()),
             .n_mels = set_->format().mel.n_mels,
             .rate = static_cast<int>(set_->format().mel.rate.value),
             .format = show_voice_format(set_->format())};
  }

  std::optional<SetBatch> next() override {
    const auto batch = batches_.next();
    if (!batch) return std::nullopt;
    return made(*batch, rows_of_rank(batch->rows(), options_));
  }

 private:
  std::span<const std::int64_t> clips() const { return set_->part(VoicePart::training); }

  SetBatch made(const Batch& batch, const std::vector<std::int64_t>& rows) const {
    const BatchShape& shape = buckets_->shape_of(batch.rows().front());
    SetBatch made = set_batch(batch, std::ssize(rows));
    made.n_mels = set_->format().mel.n_mels;
    made.frames = shape.frames;
    made.symbol_count = shape.symbols;
    made.features.resize(static_cast<std::size_t>(made.rows * made.frames * made.n_mels), kSilence);
    made.pitch.resize(static_cast<std::size_t>(made.rows * made.frames));
    made.energy.resize(made.pitch.size());
    made.symbols.resize(static_cast<std::size_t>(made.rows * made.symbol_count));
    for (std::size_t row = 0; row < rows.size(); ++row)
      add(row, set_->clip(clips()[static_cast<std::size_t>(rows[row])]), made);
    return made;
  }

  static void add(std::size_t row, const VoiceClip& clip, SetBatch& made) {
    const auto at = [row](auto& all, std::int64_t stride) {
      return all.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(stride);
    };
    std::ranges::copy(clip.mel, at(made.features, made.frames * made.n_mels));
    std::ranges::copy(clip.pitch, at(made.pitch, made.frames));
    std::ranges::copy(clip.energy, at(made.energy, made.frames));
    std::ranges::copy(clip.symbols, at(made.symbols, made.symbol_count));
    made.symbol_lengths.push_back(std::ssize(clip.symbols));
    made.frame_lengths.push_back(clip.frames);
    made.speakers.push_back(clip.speaker);
    made.ids.emplace_back(clip.name);
  }

  SetFeedOptions options_;
  std::shared_ptr<const VoiceSet> set_;
  std::shared_ptr<const VoiceBuckets> buckets_;
  BucketedBatches batches_;
};

}  // namespace

Result<SetFeed> SetFeed::open_voice(const SetFeedOptions& options) {
  TRY(check(options));
  if (options.part != "training")
    return fail(Fault::usage,
                "part: expected training, which batches of like length are made of, found '" + options.part + "'");
  const auto set = TRY(VoiceSet::open(options.set));
  if (set->part(VoicePart::training).empty())
    return fail(Fault::corrupt, options.set.string() + ": has no clip for training");
  const auto buckets = std::make_shared<const VoiceBuckets>(*set, options.batch_size * options.ranks, 1);
  auto batches = TRY(BucketedBatches::open(
      buckets, {.epochs = options.epochs, .seed = options.seed, .fingerprint = set->fingerprint()}, options.resume));
  return SetFeed(std::make_unique<VoiceSetSource>(options, set, buckets, std::move(batches)));
}

}  // namespace tutti
