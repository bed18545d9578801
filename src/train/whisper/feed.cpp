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

Augmentation augmentation_of(const WhisperRecipe& r) {
  return {.speed_share = r.speed_share,
          .gain_share = r.gain_share,
          .noise_share = r.noise_share,
          .noise_db = {r.noise_least_db, r.noise_most_db},
          .room_share = r.room_share,
          .spectrum = {.band_count = r.mask_bands, .stretch_count = r.mask_stretches}};
}

Chunking chunking_of(const WhisperRecipe& r) {
  if (!r.use_chunking) return Chunking::refused;
  if (r.chunk_strategy == "sliding") return Chunking::sliding;
  return r.chunk_strategy == "random" ? Chunking::random : Chunking::sequential;
}

FeedThreads threads_of(const WhisperRecipe& r) {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return FeedThreads::of(r.threads > 0 ? r.threads : cores, r.read_threads);
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
  FeedOptions options{.data = r.data,
                      .split = split,
                      .max_samples = r.max_samples,
                      .times = r.timestamps > 0 || r.frame_weight > 0 || r.attention_weight > 0,
                      .seed = r.seed,
                      .epochs = r.epochs,
                      .rank = share.rank,
                      .ranks = share.ranks,
                      .n_mels = dims.n_mels,
                      .window = window_of(dims),
                      .chunking = chunking_of(r),
                      .padding = r.padding == "bucket" ? Padding::bucket : Padding::window,
                      .batch_size = r.batch_size,
                      .batch_audio = Seconds(r.batch_seconds),
                      .look_ahead = r.look_ahead,
                      .augmentation = augmentation_of(r),
                      .as_audio = !r.data_gpu.empty(),
                      .threads = threads_of(r),
                      .order = r.order == "any" ? BatchOrder::any : BatchOrder::planned,
                      .bad_limits = {.count = r.bad_samples, .share = r.bad_share},
                      .bad_samples = out / bad,
                      .resume = std::move(resume)};
  options.cache = {.folder = r.cache, .most = Bytes{static_cast<std::int64_t>(r.cache_gigabytes * 1e9)}};
  return options;
}

ResidentOptions resident_of(const WhisperRecipe& recipe, at::Device device) {
  constexpr double kShareForASet = 0.8;
  const auto fifths = [](Bytes free) {
    return Bytes{static_cast<std::int64_t>(kShareForASet * static_cast<double>(free.value))};
  };
  if (recipe.data_set == "stream") return {};
  if (recipe.data_set == "mapped") return {.where = Residence::mapped};
  const bool on_device = recipe.data_set == "device";
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
          .max_samples = r.eval_samples,
          .fields = std::move(fields),
          .shuffle = false,
          .n_mels = dims.n_mels,
          .window = window_of(dims),
          .chunking = r.use_chunking ? Chunking::sequential : Chunking::refused,
          .padding = Padding::window,
          .batch_size = kDecodedTogether,
          .look_ahead = 1,
          .threads = threads_of(r),
          .bad_limits = {.count = std::numeric_limits<std::int64_t>::max(), .share = 1}};  // they are reported, see
                                                                                           // score_set
}

DataParts data_parts(const WhisperRecipe& r) {
  DataParts parts;
  if (has_split(r.data, "train")) parts.train_split = "train";
  if (!r.eval_data.empty()) {
    parts.eval_data = r.eval_data;
    return parts;
  }
  for (const char* split : {"validation", "test"}) {
    if (parts.train_split.empty() || !has_split(r.data, split)) continue;
    parts.eval_data = r.data;
    parts.eval_split = split;
    break;
  }
  return parts;
}

std::int64_t steps_per_epoch(std::int64_t samples, const WhisperRecipe& r) {
  const auto up = [](std::int64_t count, std::int64_t size) { return (count + size - 1) / size; };
  return up(up(samples, r.batch_size), r.accumulation);
}

}  // namespace tutti
