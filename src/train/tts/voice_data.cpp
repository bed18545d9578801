#include "train/tts/voice_data.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/try.h"
#include "feed/labelled/labelled_batches.h"
#include "recipe/training_fields.h"
#include "train/optimiser_step/step_memory.h"
#include "train/training.h"
#include "train/tts/task.h"
#include "train/tts/voice_features.h"

namespace tutti {
namespace {

bool is_augmented(const TtsRecipe& r) {
  return r.augmentation.speed_share > 0 || r.augmentation.noise_share > 0 || r.augmentation.room_share > 0;
}

/// How many times longer a clip may become.
double stretch_of(const TtsRecipe& r) {
  return r.augmentation.speed_share > 0 ? 1 / Augmentation{}.speed.least : 1;
}

/// Null where the data device has nothing to compute.
Result<std::shared_ptr<const VoiceWaveforms>> waveforms_of(const TtsRecipe& r, const VoiceSet& set) {
  if (r.data.gpu.empty()) return nullptr;
  auto opened = VoiceWaveforms::open(r.data.train_data, set);
  if (opened) return std::make_shared<const VoiceWaveforms>(std::move(*opened));
  if (opened.error().fault == Fault::missing && !is_augmented(r)) return nullptr;
  return tl::unexpected<Error>(opened.error());
}

/// The rows of the largest batches that come up: of every bucket, else of the longest clips.
std::vector<std::vector<std::int64_t>> largest_batches(const TtsRecipe& r, const VoiceData& data) {
  std::vector<std::vector<std::int64_t>> batches;
  if (data.buckets) {
    for (std::int64_t number = 0; number < data.buckets->batches(); ++number)
      batches.push_back(data.buckets->rows_of(number, /*key=*/0));
    std::ranges::sort(batches, {}, [&](const auto& rows) { return data.buckets->shape_of(rows.front()).frames; });
    const auto same =
        std::ranges::unique(batches, {}, [&](const auto& rows) { return data.buckets->shape_of(rows.front()).frames; });
    batches.erase(same.begin(), same.end());
    return batches;
  }
  const auto part = data.set->part(VoicePart::training);
  std::vector<std::int64_t> rows(part.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = static_cast<std::int64_t>(row);
  std::ranges::stable_sort(rows, std::greater(),
                           [&](std::int64_t row) { return data.set->frames(part[static_cast<std::size_t>(row)]); });
  rows.resize(std::min(rows.size(), static_cast<std::size_t>(r.batches.size)));
  batches.push_back(std::move(rows));
  return batches;
}

/// Makes the spectrograms of a batch on the processor, as every device makes them. Their bytes.
std::size_t make_ready(const TtsRecipe& r, const VoiceData& data, const VoiceModel& model,
                       const std::vector<std::int64_t>& rows) {
  const c10::AutoGradMode no_gradients(false);
  const auto part = data.set->part(VoicePart::training);
  std::vector<std::int64_t> clips;
  for (const auto row : rows) clips.push_back(part[static_cast<std::size_t>(row)]);
  const auto shape = data.buckets ? data.buckets->shape_of(rows.front()) : BatchShape{};
  if (!data.waveforms) return rows_of(*data.set, model, clips, shape).mel.nbytes();
  const VoiceFeatures features(at::kCPU, data.set, data.waveforms, r, model);
  return features(clips, /*epoch=*/0, shape.frames, kFramesStep).mel.nbytes();
}

/// What the largest batch takes of the data device while it is made, and on cores what is ready beside it: as many as
/// the ring holds, and those of the step.
Bytes needed(const TtsTask& task, const TtsRecipe& r, const VoiceData& data) {
  const bool keeps_ready = task.device().is_cpu() && task.data_stage().device.is_cpu();
  const auto ready =
      static_cast<std::size_t>(keeps_ready ? ring_depth_of(r.batches.ring_depth) + r.batches.accumulation : 0);
  auto counting = std::async(std::launch::async, [&] {
    count_as_data_memory();
    std::size_t largest = 0;
    for (const auto& rows : largest_batches(r, data))
      largest = std::max(largest, make_ready(r, data, task.model(), rows));
    return held_data_memory().most + ready * largest;
  });
  const auto most = static_cast<double>(counting.get());
  free_step_memory();
  return Bytes{static_cast<std::int64_t>(most * stretch_of(r))};
}

/// Frames of the clips that are learned from.
std::vector<std::int64_t> lengths_of(const VoiceSet& set) {
  std::vector<std::int64_t> lengths;
  for (const auto clip : set.part(VoicePart::training)) lengths.push_back(set.frames(clip));
  return lengths;
}

template <class Batches>
NextBatch next_of(Batches batches) {
  const auto shared = std::make_shared<Batches>(std::move(batches));
  return [shared] { return Result<std::optional<Batch>>(shared->next()); };
}

}  // namespace

Result<VoiceBatches> VoiceBatches::open(const TtsRecipe& r, const VoiceData& data, const std::string& position) {
  const auto fingerprint = data.set->fingerprint();
  if (data.buckets) {
    auto batches = TRY(BucketedBatches::open(
        data.buckets, {.epochs = r.batches.epochs, .seed = r.arithmetic.seed, .fingerprint = fingerprint}, position));
    return VoiceBatches{next_of(std::move(batches)), data.buckets->batches(), data.buckets->rows()};
  }
  const auto clips = std::ssize(data.set->part(VoicePart::training));
  auto batches = TRY(LabelledBatches::open({.rows = clips,
                                            .batch_size = r.batches.size,
                                            .epochs = r.batches.epochs,
                                            .seed = r.arithmetic.seed,
                                            .fingerprint = fingerprint,
                                            .lengths = lengths_of(*data.set)},
                                           position));
  return VoiceBatches{next_of(std::move(batches)), steps_of(clips, r.batches.size, 1), clips};
}

Result<VoiceData> learned_data(const TtsRecipe& r, std::shared_ptr<const VoiceSet> set) {
  auto waveforms = TRY(waveforms_of(r, *set));
  VoiceData data{.set = std::move(set), .waveforms = std::move(waveforms)};
  if (r.static_shapes) data.buckets = std::make_shared<const VoiceBuckets>(*data.set, r.batches.size, stretch_of(r));
  return data;
}

std::string devices_text(const TtsRecipe& r, const VoiceData& data) {
  if (r.data.gpu.empty()) return "";
  return "; spectrograms " + (data.waveforms ? "by " + r.data.gpu : std::string("as the set has them")) +
         ", steps on " + r.arithmetic.device;
}

void report_detour(const TtsRecipe& r, const VoiceData& data) {
  if (!r.data.gpu.empty() && r.data.gpu == r.arithmetic.device)
    log(Level::warning, "data-gpu and model-gpu are both " + r.arithmetic.device +
                            ": spectrograms and steps share it, and nothing of them overlaps");
  if (r.data.gpu.empty()) return;
  if (!data.waveforms)
    log(Level::warning,
        "data-gpu " + r.data.gpu + ": a detour: " + r.data.train_data.string() +
            " has no waveforms, so that device would only relay spectrograms that are computed already. "
            "They go from the processor to " +
            r.arithmetic.device + " at once; 'tutti prepare tts --waveforms' keeps the waveforms");
  else if (!is_augmented(r))
    log(Level::info, "data-gpu " + r.data.gpu +
                         ": it computes spectrograms that the set has already; speed-share, noise-share and room-share "
                         "are what it can add");
}

Result<void> limit_data_memory(const TtsTask& task, const TtsRecipe& r, const VoiceData& data) {
  if (r.data.gpu_memory == 0) return {};
  if (!task.device().is_cpu()) keep_step_memory();
  return set_up_data_memory(task, r.data.gpu_memory, needed(task, r, data));
}

}  // namespace tutti
