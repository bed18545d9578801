#include "train/whisper/feed.h"

#include <limits>
#include <thread>

#include "base/process/process_rank.h"
#include "base/units.h"
#include "device/machine.h"
#include "feed/source/dataset.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "train/evaluation/set_decoder.h"

namespace tutti {
namespace {

Augmentation augmentation_of(const WhisperRecipe::Augmentation& a) {
  return {.speed_share = a.speed_share,
          .gain_share = a.gain_share,
          .noise_share = a.noise_share,
          .noise_db = {a.noise_least_db, a.noise_most_db},
          .room_share = a.room_share,
          .spectrum = {.band_count = a.mask_bands, .stretch_count = a.mask_stretches}};
}

Chunking chunking_of(const WhisperRecipe::Data& data) {
  using enum WhisperRecipe::ChunkStrategy;
  if (!data.use_chunking) return Chunking::refused;
  return data.chunk_strategy == sliding  ? Chunking::sliding
         : data.chunk_strategy == random ? Chunking::random
                                         : Chunking::sequential;
}

FeedThreads threads_of(const WhisperRecipe::Hardware& h) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return FeedThreads::of(h.threads > 0 ? h.threads : cores, h.read_threads);
}

bool has_split(const std::filesystem::path& data, const char* split) {
  const auto set = open_dataset(data, split, {});
  return set && (*set)->size() > 0;
}

/// The columns that reports want, of those the set has.
std::vector<std::string> report_fields(const std::filesystem::path& data, const std::string& split) {
  return open_dataset(data, split, {"condition"}) ? std::vector<std::string>{"condition"} : std::vector<std::string>{};
}

}  // namespace

Seconds window_of(const WhisperDims& dims) {
  return Seconds(dims.n_audio_ctx / kPositionsPerSecond);
}

FeedOptions training_feed(const WhisperRecipe& r, const WhisperDims& dims, const std::filesystem::path& out,
                          const std::string& split, FeedShare share, std::string resume) {
  const std::string bad =
      share.rank == 0 ? "bad_samples.jsonl" : "bad_samples-" + std::to_string(share.rank) + ".jsonl";
  FeedOptions options{
      .data = r.data.source,
      .split = split,
      .max_samples = r.data.max_samples,
      .times = r.targets.timestamps > 0 || r.learning.frame_weight > 0 || r.learning.attention_weight > 0,
      .seed = r.arithmetic.seed,
      .epochs = r.batches.epochs,
      .rank = share.rank,
      .ranks = share.ranks,
      .n_mels = dims.n_mels,
      .window = window_of(dims),
      .chunking = chunking_of(r.data),
      .padding = r.packing.padding == WhisperRecipe::PaddedTo::bucket ? Padding::bucket : Padding::window,
      .batch_size = r.batches.size,
      .batch_audio = Seconds(r.packing.batch_seconds),
      .look_ahead = r.packing.look_ahead,
      .augmentation = augmentation_of(r.augmentation),
      .as_audio = !r.hardware.data_gpu.empty(),
      .threads = threads_of(r.hardware),
      .order = r.packing.order == WhisperRecipe::Order::any ? BatchOrder::any : BatchOrder::planned,
      .bad_limits = {.count = r.data.bad_samples, .share = r.data.bad_share},
      .bad_samples = out / bad,
      .resume = std::move(resume)};
  options.cache = {.folder = r.data.cache, .most = Bytes{static_cast<std::int64_t>(r.data.cache_gigabytes * 1e9)}};
  return options;
}

ResidentOptions resident_of(const WhisperRecipe& recipe, at::Device device) {
  constexpr double kShareForASet = 0.8;
  const auto fifths = [](Bytes free) {
    return Bytes{static_cast<std::int64_t>(kShareForASet * static_cast<double>(free.value))};
  };
  const WhisperRecipe::DataSet where = recipe.data.data_set;
  if (where == WhisperRecipe::DataSet::stream) return {};
  if (where == WhisperRecipe::DataSet::mapped) return {.where = Residence::mapped};
  const bool on_device = where == WhisperRecipe::DataSet::device;
  ResidentOptions resident{.where = on_device ? Residence::device : Residence::memory};
  if (on_device && device.is_cuda()) {
    if (const auto memory = gpu::memory(index_of(device))) resident.space = fifths(memory->free);
  } else if (const auto memory = read_memory()) {
    resident.space = fifths(Bytes{memory->available.value / ranks_here()});
  }
  return resident;
}

FeedOptions evaluation_feed(const WhisperRecipe& r, const WhisperDims& dims, const std::filesystem::path& data,
                            std::string split) {
  auto fields = report_fields(data, split);
  return {.data = data,
          .split = std::move(split),
          .max_samples = r.data.eval_samples,
          .fields = std::move(fields),
          .shuffle = false,
          .n_mels = dims.n_mels,
          .window = window_of(dims),
          .chunking = r.data.use_chunking ? Chunking::sequential : Chunking::refused,
          .padding = Padding::window,
          .batch_size = kDecodedTogether,
          .look_ahead = 1,
          .threads = threads_of(r.hardware),
          .bad_limits = {.count = std::numeric_limits<std::int64_t>::max(), .share = 1}};  // they are reported, see
                                                                                           // score_set
}

DataParts data_parts(const WhisperRecipe& r) {
  DataParts parts;
  if (has_split(r.data.source, "train")) parts.train_split = "train";
  if (!r.data.eval_data.empty()) {
    parts.eval_data = r.data.eval_data;
    return parts;
  }
  for (const char* split : {"validation", "test"}) {
    if (parts.train_split.empty() || !has_split(r.data.source, split)) continue;
    parts.eval_data = r.data.source;
    parts.eval_split = split;
    break;
  }
  return parts;
}

}  // namespace tutti
