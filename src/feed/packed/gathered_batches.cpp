#include "feed/packed/gathered_batches.h"

#include <algorithm>
#include <utility>

#include "feed/batch_rules.h"
#include "feed/packed/packed_set.h"
#include "feed/stages/sample_key.h"

namespace tutti {
namespace {

constexpr int kGathering = 4;                               // batches at a time, each with its buffer
constexpr const char *kList = "list", *kGather = "gather";  // the stages

}  // namespace

GatheredBatches::GatheredBatches(const FeedOptions& options, std::shared_ptr<const PackedSet> set, BadSamples& bad,
                                 std::string prefix)
    : options_(options), set_(std::move(set)), bad_(bad), prefix_(std::move(prefix)), planner_(planner_for(options)) {}

Result<void> GatheredBatches::restore(std::string_view position) {
  is_resumed_ = true;
  if (auto restored = planner_.restore(position); !restored) return restored;
  bool holds_all = std::ranges::all_of(planner_.waiting(), [this](const auto& sample) { return holds(sample); });
  for (const PlannedBatch& batch : planner_.in_flight())
    for (const PlannedSample& sample : batch.samples) holds_all &= sample.index < 0 || holds(sample);
  if (holds_all) return {};
  return fail(Fault::corrupt,
              "the position to resume from names pieces of recordings that the packed set does not hold: "
              "recordings or transcripts have changed since",
              "Put back the files it was made with, or train again in another folder");
}

/// A line or a piece that a position names is what it was then. What cannot be used any more is a bad sample.
bool GatheredBatches::holds(const PlannedSample& sample) const {
  if (sample.index < 0 || sample.index >= set_->lines()) return false;
  const std::int64_t first = set_->first_of(sample.index), end = set_->first_of(sample.index + 1);
  const std::int64_t number = first + std::max(sample.piece, 0);
  if (first < end && set_->entry(first).piece == kBadLine) return true;
  return number < end && set_->entry(number).piece == sample.piece;
}

Reader<Batch> GatheredBatches::add_stages(Pipeline& pipeline) {
  plan_.emplace(options_, *set_, bad_, std::move(planner_), is_resumed_);
  const auto ready = static_cast<std::size_t>(options_.ready);
  auto lists = pipeline.source(kList, [this] { return list(); }, {.output = {.items = ready}});
  const int threads = std::min(options_.threads.features, kGathering);
  return pipeline.map(kGather, std::move(lists), [this](GatherList&& list) -> Result<Batch> { return made(list); },
                      {.threads = threads,
                       .order = threads > 1 ? Order::input : Order::completion,
                       .window = kGathering,
                       .output = {.items = ready}});
}

std::optional<Result<GatherList>> GatheredBatches::list() {
  StageWork made_by;
  auto next = made_by.measure(kList, *options_.clock, [this] { return plan_->next(); });
  if (next && *next) (*next)->made_by = std::move(made_by);
  return next;
}

Batch GatheredBatches::made(GatherList& list) {
  StageWork made_by = std::move(list.made_by);
  Batch batch = made_by.measure(kGather, *options_.clock, [&] { return gather(list); });
  batch.made_by = std::move(made_by);
  return batch;
}

Batch GatheredBatches::gather(const GatherList& list) {
  Batch batch;
  batch.index = list.number;
  batch.epoch = list.epoch;
  batch.n_mels = set_->n_mels();
  batch.frames = list.frames;
  batch.position = prefix_ + list.position;
  const bool by_device = options_.resident.where == Residence::device;
  if (!by_device)
    batch.content = buffers_.take(list.entries.size() * static_cast<std::size_t>(batch.n_mels * batch.frames));
  BatchGather gather;
  for (const std::int64_t number : list.entries) {
    const PackEntry& entry = set_->entry(number);
    BatchSample& sample = batch.samples.emplace_back(set_->facts(entry));
    sample.frames = entry.real;
    auto masks = spectrum_masks(options_.augmentation.spectrum, batch.n_mels, entry.real,
                                sample_key(options_.seed, batch.epoch, sample.id));
    if (by_device)
      gather.push_back({number, std::move(masks)});
    else
      gather_row(*set_, entry, masks, batch.row(batch.size() - 1), batch.frames);
  }
  if (by_device) batch.content = std::move(gather);
  return batch;
}

}  // namespace tutti
