#include <string>
#include <vector>

#include "base/field_names.h"
#include "base/toml.h"
#include "recipe/recipe_file.h"
#include "recipe/value_checks.h"
#include "recipe/whisper_fields.h"

namespace tutti {
namespace {

using value_checks::between;
using value_checks::kMany;
using value_checks::kMostThreads;
using value_checks::one_of;

/// For what is multiplied by itself step after step, where 1 would never forget the first.
Result<void> below_one(const char* name, double value) {
  if (value >= 0 && value < 1) return {};
  return fail(Fault::usage, std::string(name) + ": expected 0 to less than 1, found " + toml_number(value));
}

/// The checks of what the feed does.
std::vector<Result<void>> feed_checks(const WhisperRecipe& r) {
  return {
      between("bad-share", r.data.bad_share, 0, 1),
      between("speed-share", r.augmentation.speed_share, 0, 1),
      between("gain-share", r.augmentation.gain_share, 0, 1),
      between("noise-share", r.augmentation.noise_share, 0, 1),
      between("room-share", r.augmentation.room_share, 0, 1),
      between("window-share", r.packing.window_share, 0, 1),
      between("look-ahead", r.packing.look_ahead, 1, kMany),
      between("batch-size", r.batches.size, 1, 65536),
      between("batch-seconds", r.packing.batch_seconds, 0, kMany),
      between("cache-gigabytes", r.data.cache_gigabytes, 0.01, kMany),
      between("noise-most-db", r.augmentation.noise_most_db, r.augmentation.noise_least_db, 200),
      between("ring-megabytes", r.packing.ring_megabytes, 0, kMany),
      between("threads", r.hardware.threads, 0, kMostThreads),
      between("read-threads", r.hardware.read_threads, 1, kMostThreads),
  };
}

/// The checks of how the network steps, and for how long.
std::vector<Result<void>> step_checks(const WhisperRecipe& r) {
  return {
      between("timestamps", r.targets.timestamps, 0, 1),
      between("dropout", r.learning.dropout, 0, 0.95),
      between("cycles", r.optimiser.cycles, 1, kMany),
      between("schedule-steps", r.optimiser.schedule_steps, 0, kMany),
      between("epsilon", r.optimiser.epsilon, 0, 1),
      below_one("beta1", r.optimiser.beta1),
      below_one("beta2", r.optimiser.beta2),
      below_one("ema", r.optimiser.ema),
      between("ctc-weight", r.learning.ctc_weight, 0, 100),
      between("frame-weight", r.learning.frame_weight, 0, 100),
      between("attention-weight", r.learning.attention_weight, 0, 100),
  };
}

Result<void> check_heads(const WhisperRecipe& r) {
  if (r.network.width % 2 == 0 && r.network.width % r.network.heads == 0) return {};
  return fail(Fault::usage,
              "width, heads: expected an even width that the heads divide, found " + std::to_string(r.network.width) +
                  " and " + std::to_string(r.network.heads),
              "Whisper's own heads are 64 wide");
}

/// A stored network has its own, whatever they are.
std::vector<Result<void>> new_network_checks(const WhisperRecipe& r) {
  constexpr double kWidest = 65536, kMostLayers = 1024, kLeastText = 16;
  if (!r.network.model.empty()) return {};
  return {
      between("width", r.network.width, 2, kWidest),
      between("heads", r.network.heads, 1, r.network.width),
      r.network.heads > 0 ? check_heads(r) : Result<void>(),
      between("encoder-layers", r.network.encoder_layers, 1, kMostLayers),
      between("decoder-layers", r.network.decoder_layers, 1, kMostLayers),
      between("text-context", r.network.text_context, kLeastText, kWidest),
      between("window-seconds", r.network.window_seconds, 0.1, 30),
      one_of("mels", std::to_string(r.network.mels), "80|128"),
  };
}

/// What would do nothing beside the others, and so was not intended.
std::vector<Result<void>> sense_checks(const WhisperRecipe& r) {
  const auto unless = [](bool senseless, const std::string& what, const char* hint) {
    return senseless ? Result<void>(fail(Fault::usage, what, hint)) : Result<void>{};
  };
  return {
      unless(r.targets.labels == WhisperRecipe::LabelKind::morse &&
                 (r.targets.timestamps > 0 || r.learning.ctc_weight > 0 || r.learning.frame_weight > 0 ||
                  r.learning.attention_weight > 0),
             "labels morse: its marks have no time in the audio, and timestamps, ctc-weight, frame-weight and "
             "attention-weight need one",
             "Leave those at 0, or take labels text"),
      unless(r.optimiser.cycles > 1 && r.optimiser.schedule != RateShape::cosine,
             "cycles: only the cosine restarts; the schedule is '" + r.optimiser.schedule.word() + "'",
             "Add schedule cosine, or leave cycles out"),
      unless(r.learning.lora_rank > 0 && r.learning.lora_alpha <= 0,
             "lora-alpha: expected more than 0, found " + toml_number(r.learning.lora_alpha) +
                 "; the additions would add nothing",
             "It is usually the rank, or twice that"),
      unless(
          r.hardware.gradient_checkpointing && r.learning.freeze_encoder && r.learning.attention_weight > 0,
          "gradient-checkpointing: the encoder is frozen, and attention-weight keeps what the decoder computes; there "
          "is nothing to compute twice",
          "Leave out one of the three"),
      unless(r.learning.freeze_encoder && (r.learning.ctc_weight > 0 || r.learning.frame_weight > 0),
             "ctc-weight, frame-weight: with freeze-encoder there is nothing that they could teach",
             "Leave out freeze-encoder, or both of them"),
  };
}

/// What is packed once is the same in every epoch, and is stored in the cache.
Result<void> check_data_set(const WhisperRecipe& r) {
  if (r.data.data_set == WhisperRecipe::DataSet::stream) return {};
  const std::string requested = "data-set " + r.data.data_set.word();
  if (r.packing.order != WhisperRecipe::Order::planned)
    return fail(Fault::usage,
                "order " + r.packing.order.word() + ", " + requested + ": a packed set has no slow files to wait for",
                "Leave out one of them");
  std::string changing;
  const auto name_if = [&](bool is_on, const char* name) {
    if (is_on) changing += (changing.empty() ? "" : ", ") + std::string(name);
  };
  name_if(r.augmentation.speed_share > 0, "speed-share");
  name_if(r.augmentation.gain_share > 0, "gain-share");
  name_if(r.augmentation.noise_share > 0, "noise-share");
  name_if(r.augmentation.room_share > 0, "room-share");
  name_if(r.data.use_chunking && r.data.chunk_strategy == WhisperRecipe::ChunkStrategy::random,
          "chunk-strategy random");
  if (!changing.empty())
    return fail(Fault::usage,
                requested + ", " + changing + ": features are packed once, and these change them in every epoch",
                "Leave out " + changing + " (mask-bands and mask-stretches may stay), or take data-set stream");
  if (!r.hardware.data_gpu.empty())
    return fail(Fault::usage, requested + ", data-gpu: features that are packed are not computed while training runs",
                "Leave out one of them");
  if (r.data.cache.empty())
    return fail(Fault::usage, requested + ": the set is packed in the cache, and none is named",
                "Name a folder with " + field("cache"));
  return {};
}

}  // namespace

Result<void> check_recipe(const WhisperRecipe& r) {
  std::vector<Result<void>> all;
  for (const auto& checks : {feed_checks(r), step_checks(r), new_network_checks(r), sense_checks(r)})
    all.insert(all.end(), checks.begin(), checks.end());
  if (auto checked = value_checks::first_fault(r, all); !checked) return checked;
  if (!r.hardware.data_gpu.empty() && !r.data.cache.empty())
    return fail(Fault::usage, "data-gpu, cache: features that a device computes are not kept", "Leave out one of them");
  if (!r.hardware.data_gpu.empty() && !r.hardware.devices.empty() && r.hardware.data_gpu != "model" &&
      r.hardware.data_gpu != "cpu")
    return fail(Fault::usage,
                "data-gpu: '" + r.hardware.data_gpu +
                    "': each of several processes sees its own device alone; expected model or cpu",
                "Write data-gpu model, or train in one process with " + field("device"));
  if (auto checked = check_data_set(r); !checked) return checked;
  if (r.data.source.empty())
    return fail(Fault::usage, "data: nothing to learn is named", "Name a folder with " + field("data"));
  return {};
}

}  // namespace tutti
