#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "feed/batch.h"
#include "feed/voice/voice_buckets.h"
#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"
#include "recipe/tts_recipe.h"

namespace tutti {

class TtsTask;

/// What a voice learns from.
struct VoiceData {
  std::shared_ptr<const VoiceSet> set{};
  std::shared_ptr<const VoiceWaveforms> waveforms{};  // for spectrograms by the data device; null: the set's are taken
  std::shared_ptr<const VoiceBuckets> buckets{};      // whose batches come; null: such as pad to their longest clip
};

/// The batches of a voice's training, as rows of the set's part for training: of the data's buckets, where it has some,
/// else of clips of like length.
struct VoiceBatches {
  NextBatch next{};
  std::int64_t an_epoch = 0;  // batches of an epoch
  std::int64_t rows = 0;      // that they hold together

  /// `position`: of the last batch that was used; empty: from the start. Errors as of LabelledBatches and
  /// BucketedBatches.
  static Result<VoiceBatches> open(const TtsRecipe& recipe, const VoiceData& data, const std::string& position);
};

/// What a voice learns from by a recipe: with the set's waveforms where a data device is to compute spectrograms, and
/// with buckets where shapes are static. Errors as of VoiceWaveforms, where they are needed.
Result<VoiceData> learned_data(const TtsRecipe& recipe, std::shared_ptr<const VoiceSet> set);

/// "; batches by cuda:0, steps on cuda:1": for people, nothing without a data device.
std::string devices_text(const TtsRecipe& recipe, const VoiceData& data);

/// Reports a data device that has nothing to do but relay as a detour, and one that computes what the set has.
void report_detour(const TtsRecipe& recipe, const VoiceData& data);

/// Limits what the data's tensors take of the data device (TtsRecipe::data_gpu_memory). Makes the largest batches ready
/// once on the processor to see what they need: Fault::usage with that where the limit is less. Behind
/// set_up_step_memory.
Result<void> limit_data_memory(const TtsTask& task, const TtsRecipe& recipe, const VoiceData& data);

}  // namespace tutti
