#pragma once

#include <functional>
#include <memory>
#include <span>

#include "feed/voice/voice_set.h"
#include "recipe/tts_recipe.h"
#include "train/task.h"
#include "train/tts/losses.h"
#include "train/tts/model.h"

namespace tutti {

/// Learning to speak: every text is aligned with its clip in every step; the encoder learns the means and durations
/// of its symbols, the decoder to make spectrograms of noise (Matcha-TTS, Mehta et al. 2024). Batches come as rows of
/// the set's part for training (Batch::rows).
class TtsTask : public Task {
 public:
  /// A new network for the set, or that of a stored voice (TtsRecipe::model). Fault::usage where the stored one reads
  /// or sounds otherwise than the set.
  static Result<std::unique_ptr<TtsTask>> start(const TtsRecipe& recipe, std::shared_ptr<const VoiceSet> set);

  const std::vector<Parameter>& trained() const override { return model_.network.all; }
  at::Device device() const override { return device_; }
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
  TtsTask(VoiceModel model, std::shared_ptr<const VoiceSet> set, const TtsRecipe& recipe, at::Device device);

  VoiceModel model_;
  std::shared_ptr<const VoiceSet> set_;
  TtsRecipe recipe_;
  at::Device device_;
};

/// Clips of a set, padded to one length: on the CPU, in the order of `clips`, spectrograms normalised. Crops and times
/// are left to the caller.
VoiceRows rows_of(const VoiceSet& set, const VoiceModel& model, std::span<const std::int64_t> clips);

/// The losses over clips, a mean over them; crops, times and noise are the same at every call. `interrupted` ends it
/// with Fault::cancelled.
struct VoiceScores {
  double prior = 0, durations = 0, flow = 0;
};
Result<VoiceScores> score_voice(const VoiceModel& model, const VoiceSet& set, std::span<const std::int64_t> clips,
                                std::int64_t batch_size, const std::function<bool()>& interrupted);

}  // namespace tutti
