#include "feed/feed.h"

#include <algorithm>
#include <atomic>

#include "base/bytes.h"
#include "base/counter_random.h"
#include "base/log.h"
#include "feed/bad_samples.h"
#include "feed/check_options.h"
#include "feed/plan/board.h"
#include "feed/sample_order.h"
#include "feed/source/dataset.h"
#include "feed/stages/batch_stage.h"
#include "feed/stages/plan_stage.h"
#include "feed/stages/sample_stages.h"
#include "flow/pipeline.h"

namespace tutti {
namespace {

/// Batches begun before the oldest is done. Part of what a position means: another depth would put replacements of bad
/// samples elsewhere.
constexpr std::size_t kBatchesInWork = 4;

/// Every row is as long as the window, whatever is said in it: so many of them keep to the audio of a batch.
BatchRules rules_of_windows(const FeedOptions& options) {
  BatchRules rules{.most_samples = options.batch_size, .by_length = false};
  if (options.batch_audio > Seconds(0))
    rules.most_samples = std::clamp(static_cast<std::int64_t>(options.batch_audio / options.window), std::int64_t{1},
                                    rules.most_samples);
  return rules;
}

BatchRules rules_of(const FeedOptions& options) {
  if (options.padding == Padding::window) return rules_of_windows(options);
  const auto budget = static_cast<std::int64_t>(options.batch_audio.count() * kModelRate.value) / kHopSamples;
  return {.most_samples = options.batch_size, .most_frames = budget, .by_length = options.look_ahead > 1};
}

std::int64_t window_of(const FeedOptions& options) {
  return rules_of(options).by_length ? std::max(options.look_ahead, options.batch_size) : options.batch_size;
}

std::string prefix_of(std::uint64_t fingerprint) {
  ByteWriter out;
  out.put(fingerprint);
  return out.take();
}

/// Null where none is asked for, or of no use: sound that is changed anew in every epoch has no features worth keeping.
Result<std::unique_ptr<FeatureCache>> cache_of(const FeedOptions& options) {
  if (options.cache.folder.empty()) return nullptr;
  if (!options.augmentation.touches_sound()) return FeatureCache::open(options.cache);
  if (options.rank == 0)
    log(Level::warning,
        "the cache of features is not used: speed, room, noise or gain change the sound anew in every epoch. "
        "Leave them out to use it; masks may stay");
  return nullptr;
}

}  // namespace

struct Feed::Parts {
  Parts(FeedOptions asked, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples,
        std::unique_ptr<FeatureCache> features);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { let_go(); }

  /// Nobody waits any more, wherever the pipeline stood.
  void let_go() {
    board.change([](PlanState& state) { state.is_stopped = true; });
    batches = {};
  }

  Result<void> resume();
  void build();
  Reader<RowPtr> step(const char* name, Reader<RowPtr>&& in, int threads, void (*work)(SampleStages&, Row&));
  Reader<RowPtr> sound_step(const char* name, Reader<RowPtr>&& in, int threads, void (*work)(SampleStages&, Row&));

  FeedOptions options;
  std::unique_ptr<Dataset> set;
  std::unique_ptr<BadSamples> bad;
  std::unique_ptr<FeatureCache> cache;
  std::string prefix;
  BufferPool buffers;
  PlanBoard board;
  SampleStages stages;
  PlanStage plan;
  BatchStage batch;
  std::optional<SampleOrder> order;
  Histogram waits;
  std::atomic<std::int64_t> batch_count = 0, sample_count = 0, real_frames = 0, padded_frames = 0;
  Reader<Batch> batches;
  Pipeline pipeline;  // last: its threads use all of the above
};

Feed::Parts::Parts(FeedOptions asked, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples,
                   std::unique_ptr<FeatureCache> features)
    : options(std::move(asked)),
      set(std::move(data)),
      bad(std::move(bad_samples)),
      cache(std::move(features)),
      prefix(prefix_of(fingerprint_of(options, set->fingerprint()))),
      buffers(options.memory),
      board(PlanState{Planner(rules_of(options), window_of(options), kBatchesInWork)}),
      stages(options, *set, cache.get()),
      plan(options, board, buffers, *bad),
      batch(prefix, options.frame_multiple, board, buffers, *bad),
      pipeline({.clock = options.clock}) {}

Result<void> Feed::Parts::resume() {
  if (options.resume.empty()) return {};
  const std::string_view saved = options.resume;
  if (!saved.starts_with(prefix))
    return fail(Fault::usage, "the position to resume from belongs to another set, or to other options of the feed",
                "Resume with the data and the settings it was made with");
  return board.with([&](PlanState& state) {
    auto restored = state.planner.restore(saved.substr(prefix.size()));
    batch.expect_whole_from(state.planner.epoch() + 1);
    return restored;
  });
}

Reader<RowPtr> Feed::Parts::step(const char* name, Reader<RowPtr>&& in, int threads,
                                 void (*work)(SampleStages&, Row&)) {
  const auto fn = [this, work](RowPtr&& row) -> Result<RowPtr> {
    if (row->is_wanted()) work(stages, *row);
    return std::move(row);
  };
  return pipeline.map(name, std::move(in), fn, {.threads = threads, .output = {.items = 32}});
}

/// A step that is passed by where the features were in the cache.
Reader<RowPtr> Feed::Parts::sound_step(const char* name, Reader<RowPtr>&& in, int threads,
                                       void (*work)(SampleStages&, Row&)) {
  const auto fn = [this, work](RowPtr&& row) -> Result<RowPtr> {
    if (row->needs_sound()) work(stages, *row);
    return std::move(row);
  };
  return pipeline.map(name, std::move(in), fn, {.threads = threads, .output = {.items = 32}});
}

void Feed::Parts::build() {
  const FeedThreads& threads = options.threads;
  auto ordered = pipeline.source("order", [this]() -> std::optional<Result<Probed>> {
    auto next = order->next();
    return next ? std::optional<Result<Probed>>(std::move(*next)) : std::nullopt;
  });
  auto probed = pipeline.map("probe", std::move(ordered),
                             [this](Probed&& sample) -> Result<Probed> { return stages.probe(std::move(sample)); },
                             {.threads = threads.probe, .order = threads.probe > 1 ? Order::input : Order::completion});
  auto rows = pipeline.flat_map<RowPtr>(
      "plan", std::move(probed),
      [this](Probed&& sample, const Emit<RowPtr>& emit) { return plan.take(std::move(sample), emit); },
      {.output = {.items = 32}});
  rows = step("read", std::move(rows), threads.read, [](SampleStages& it, Row& row) { it.read(row); });
  rows = sound_step("decode", std::move(rows), threads.decode, [](SampleStages& it, Row& row) { it.decode(row); });
  rows =
      sound_step("resample", std::move(rows), threads.resample, [](SampleStages& it, Row& row) { it.resample(row); });
  if (options.as_sound) {
    rows = step("hand over", std::move(rows), 1, [](SampleStages& it, Row& row) { it.hand_over(row); });
  } else {
    if (options.augmentation.touches_sound())
      rows = step("augment", std::move(rows), threads.augment, [](SampleStages& it, Row& row) { it.augment(row); });
    rows = step("features", std::move(rows), threads.features, [](SampleStages& it, Row& row) { it.features(row); });
  }
  batches = pipeline.flat_map<Batch>(
      "batch", std::move(rows),
      [this](RowPtr&& row, const Emit<Batch>& emit) { return batch.take(std::move(row), emit); },
      {.output = {.items = static_cast<std::size_t>(options.ready)}});
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
  auto cache = cache_of(options);
  if (!cache) return tl::unexpected(cache.error());
  auto parts = std::make_unique<Parts>(std::move(options), std::move(*set), std::move(*bad), std::move(*cache));
  if (auto resumed = parts->resume(); !resumed) return tl::unexpected(resumed.error());
  const auto [epoch, cursor] = parts->board.with(
      [](const PlanState& state) { return std::pair(state.planner.epoch(), state.planner.cursor()); });
  parts->order.emplace(parts->options, parts->set->size(), epoch, cursor);
  parts->build();
  parts->pipeline.start();
  return Feed(std::move(parts));
}

Result<std::optional<Batch>> Feed::next() {
  const auto since = parts_->options.clock->now();
  auto batch = parts_->batches.pop();
  parts_->waits.record(Seconds(parts_->options.clock->now() - since).count());
  if (!batch) {
    parts_->let_go();
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
  return parts_->order->count();
}

FeedReport Feed::report() const {
  FeedReport report;
  report.stages = parts_->pipeline.report();
  // The plan stage waits inside its own function for batches to be done: that is no work of its.
  const auto waited = parts_->board.with([](const PlanState& state) { return state.waited; });
  for (StageReport& stage : report.stages.stages)
    if (stage.name == "plan") {
      stage.times.busy -= std::min(waited, stage.times.busy);
      stage.times.blocked += waited;
    }
  report.batches = parts_->batch_count;
  report.samples = parts_->sample_count;
  report.real_frames = parts_->real_frames;
  report.padded_frames = parts_->padded_frames;
  report.bad_samples = parts_->bad->count();
  report.waits = parts_->waits.snapshot();
  return report;
}

}  // namespace tutti
