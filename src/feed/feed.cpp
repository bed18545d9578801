#include "feed/feed.h"

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "base/log.h"
#include "feed/bad_samples.h"
#include "feed/batch_path.h"
#include "feed/check_options.h"
#include "feed/packed/gathered_batches.h"
#include "feed/packed/open_packed.h"
#include "feed/sample_order.h"
#include "feed/source/dataset.h"
#include "feed/stages/streamed_batches.h"
#include "flow/pipeline.h"

namespace tutti {
namespace {

std::string prefix_of(std::uint64_t fingerprint) {
  ByteWriter out;
  out.put(fingerprint);
  return out.take();
}

/// Null where none is requested, or where it is of no use: audio that changes in every epoch has no features worth
/// keeping.
Result<std::unique_ptr<FeatureCache>> cache_of(const FeedOptions& options) {
  if (options.cache.folder.empty()) return nullptr;
  if (!options.augmentation.touches_sound()) return FeatureCache::open(options.cache);
  if (options.rank == 0)
    log(Level::warning,
        "the cache of features is not used: speed, room, noise or gain change the audio in every epoch. "
        "Leave them out to use it; masks may stay");
  return nullptr;
}

}  // namespace

FeedReport FeedReport::since(const FeedReport& before) const {
  FeedReport later = *this;
  later.stages.elapsed -= before.stages.elapsed;
  for (std::size_t i = 0; i < std::min(stages.stages.size(), before.stages.stages.size()); ++i) {
    StageReport& stage = later.stages.stages[i];
    const StageReport& old = before.stages.stages[i];
    stage.times = stage.times.since(old.times);
    stage.items_in -= old.items_in;
    stage.items_out -= old.items_out;
    stage.failed -= old.failed;
    stage.service = stage.service.since(old.service);
  }
  later.batches -= before.batches;
  later.samples -= before.samples;
  later.real_frames -= before.real_frames;
  later.padded_frames -= before.padded_frames;
  later.waits = waits.since(before.waits);
  return later;
}

struct Feed::Parts {
  Parts(FeedOptions requested, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { close(); }

  /// Ends every wait in the pipeline.
  void close() {
    if (path) path->close();
    batches = {};
  }

  /// Out of a packed set, or sample by sample.
  Result<void> choose_path();
  /// Whether the position is one of this set and these options.
  Result<void> check_position() const;

  FeedOptions options;
  std::unique_ptr<Dataset> set;
  std::unique_ptr<BadSamples> bad;
  std::string prefix;
  std::shared_ptr<const PackedSet> packed{};
  std::unique_ptr<BatchPath> path{};
  Histogram waits;
  std::atomic<std::int64_t> batch_count = 0, sample_count = 0, real_frames = 0, padded_frames = 0;
  Reader<Batch> batches;
  Pipeline pipeline;  // last: its threads use all of the above
};

Feed::Parts::Parts(FeedOptions requested, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples)
    : options(std::move(requested)),
      set(std::move(data)),
      bad(std::move(bad_samples)),
      prefix(prefix_of(fingerprint_of(options, set->fingerprint()))),
      pipeline({.clock = options.clock}) {}

Result<void> Feed::Parts::choose_path() {
  if (options.resident.where != Residence::stream) {
    auto opened = open_packed(options, *set);
    if (!opened) return tl::unexpected(opened.error());
    packed = std::move(*opened);
  }
  if (packed) {
    path = std::make_unique<GatheredBatches>(options, packed, *bad, prefix);
    return {};
  }
  auto cache = cache_of(options);
  if (!cache) return tl::unexpected(cache.error());
  path = std::make_unique<StreamedBatches>(options, *set, std::move(*cache), *bad, prefix);
  return {};
}

Result<void> Feed::Parts::check_position() const {
  if (options.resume.empty() || options.resume.starts_with(prefix)) return {};
  return fail(Fault::usage, "the position to resume from belongs to another set, or to other options of the feed",
              "Resume with the data and the settings it was made with");
}

Feed::Feed(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

Result<Feed> Feed::open(FeedOptions options) {
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  auto set = open_dataset(options.data, options.split, options.fields);
  if (!set) return tl::unexpected(set.error());
  if ((*set)->size() <= options.rank)
    return fail(Fault::corrupt, options.data.string() + ": holds no sample" +
                                    (options.ranks > 1 ? " for rank " + std::to_string(options.rank) : ""));
  const std::int64_t samples = SampleOrder(options, (*set)->size(), 0, 0).different();
  auto bad = BadSamples::open(options.bad_samples, options.bad_limits, samples);
  if (!bad) return tl::unexpected(bad.error());
  auto parts = std::make_unique<Parts>(std::move(options), std::move(*set), std::move(*bad));
  if (auto checked = parts->check_position(); !checked) return tl::unexpected(checked.error());
  if (auto chosen = parts->choose_path(); !chosen) return tl::unexpected(chosen.error());
  if (const std::string_view at = parts->options.resume; !at.empty())
    if (auto resumed = parts->path->restore(at.substr(parts->prefix.size())); !resumed)
      return tl::unexpected(resumed.error());
  parts->batches = parts->path->add_stages(parts->pipeline);
  parts->pipeline.start();
  return Feed(std::move(parts));
}

Result<std::optional<Batch>> Feed::next() {
  const auto since = parts_->options.clock->now();
  auto batch = parts_->batches.pop();
  parts_->waits.record(Seconds(parts_->options.clock->now() - since).count());
  if (!batch) {
    parts_->close();
    if (auto ended = parts_->pipeline.join(); !ended) return tl::unexpected(ended.error());
    return std::nullopt;
  }
  parts_->batch_count += 1;
  parts_->sample_count += batch->size();
  parts_->padded_frames += batch->size() * batch->frames;
  for (const BatchSample& sample : batch->samples) parts_->real_frames += sample.frames;
  return batch;
}

std::int64_t Feed::samples_per_epoch() const {
  return SampleOrder(parts_->options, parts_->set->size(), 0, 0).count();
}

std::shared_ptr<const PackedSet> Feed::packed() const {
  return parts_->packed;
}

FeedReport Feed::report() const {
  FeedReport report;
  report.stages = parts_->pipeline.report();
  parts_->path->correct(report.stages);
  report.batches = parts_->batch_count;
  report.samples = parts_->sample_count;
  report.real_frames = parts_->real_frames;
  report.padded_frames = parts_->padded_frames;
  report.bad_samples = parts_->bad->count();
  report.last_bad = parts_->bad->last();
  report.waits = parts_->waits.snapshot();
  return report;
}

}  // namespace tutti
