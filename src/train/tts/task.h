#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "feed/voice/voice_buckets.h"
#include "feed/voice/voice_set.h"
#include "model/compute_device.h"
#include "recipe/tts_recipe.h"
#include "train/task.h"
#include "train/tts/losses.h"
#include "train/tts/model.h"
#include "train/tts/voice_data.h"
#include "train/tts/voice_features.h"

namespace tutti {

/// Learning to speak: every text is aligned with its clip in every step; the encoder learns the means and durations
/// of its symbols, the decoder to make spectrograms of noise (Matcha-TTS, Mehta et al. 2024). Batches come as rows of
/// the set's part for training (Batch::rows).
class TtsTask : public Task {
 public:
  /// A new network for the set, or that of a stored voice (TtsRecipe::model). Fault::usage where the stored one reads
  /// or sounds otherwise than the set, Fault::missing where a device of the recipe is not there.
  static Result<std::unique_ptr<TtsTask>> start(const TtsRecipe& recipe, VoiceData data);

  const std::vector<Parameter>& trained() const override { return model_.network.all; }
  at::Device device() const override { return device_.device; }
  /// The cores of the steps.
  const ThreadCores& cores() const { return device_.cores; }
  DataStage data_stage() const override { return stage_; }
  TaskBatch prepare(const Batch& batch) override;
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override;
  std::map<std::string, std::string> files(const std::string& weight_type) const override {
    return model_.files(weight_type);
  }
  std::vector<Parameter> weights() const override { return model_.network.all; }

  const VoiceModel& model() const { return model_; }
  /// README.md of OUT/model from now on.
  void set_card(const std::string& card) { model_.card = card; }

 private:
  TtsTask(VoiceModel model, VoiceData data, const TtsRecipe& recipe, ComputeDevice device);
  VoiceRows rows_of_batch(std::span<const std::int64_t> clips, std::int64_t epoch, const BatchShape& shape) const;

  VoiceModel model_;
  VoiceData data_;
  TtsRecipe recipe_;
  ComputeDevice device_;
  DataStage stage_{};
  std::optional<VoiceFeatures> features_{};  // none: the set's spectrograms are taken. Used by the thread that prepares
};

/// Clips of a set, padded to the lengths of `shape`, 0: to their longest: on the CPU, in the order of `clips`,
/// spectrograms normalised. Crops and times are left to the caller.
VoiceRows rows_of(const VoiceSet& set, const VoiceModel& model, std::span<const std::int64_t> clips,
                  const BatchShape& shape = {});

/// The losses over clips, a mean over them; crops, times and noise are the same at every call. `interrupted` ends it
/// with Fault::cancelled.
struct VoiceScores {
  double prior = 0, durations = 0, flow = 0;
};
Result<VoiceScores> score_voice(const VoiceModel& model, const VoiceSet& set, std::span<const std::int64_t> clips,
                                std::int64_t batch_size, const std::function<bool()>& interrupted);

}  // namespace tutti
