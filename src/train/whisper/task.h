#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "model/convert/weight_type.h"
#include "model/whisper.h"
#include "recipe/whisper_recipe.h"
#include "train/device_set.h"
#include "train/gpu_features.h"
#include "train/task.h"
#include "train/whisper/labels.h"
#include "train/whisper/network/ctc_head.h"
#include "train/whisper/network/forward.h"
#include "train/whisper/network/lora.h"

namespace tutti {

/// Learning to write down speech: cross-entropy of every token of a text, given the tokens before it and the features;
/// where the recipe wants it, also what the encoder alone spells. Fine-tuning any Whisper, or a new network.
class WhisperTask : public Task {
 public:
  /// A network as the recipe describes it, new or from a stored model (`model`, already found).
  static Result<std::unique_ptr<WhisperTask>> start(const WhisperRecipe& recipe, const std::filesystem::path& model);

  const std::vector<Parameter>& trained() const override { return trained_; }
  at::Device device() const override { return device_; }
  DataStage data_stage() const override { return {.device = data_device_}; }
  TaskBatch prepare(const Batch& batch) override;
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override;
  std::map<std::string, std::string> files(const std::string& weight_type) const override;
  std::vector<Parameter> weights() const override;

  /// Keeps the set's features on the task's device, and gathers there the rows whose indices batches name. Before
  /// batches are prepared. Fault::exhausted where there is no memory for them.
  Result<void> keep_on_device(std::shared_ptr<const PackedSet> set);

  const WhisperDims& dims() const { return parameters_.shape.dims; }
  const Labels& labels() const { return labels_; }
  /// The stored tensors alone, without additions.
  const std::vector<Parameter>& base() const { return parameters_.all; }
  /// The network for decoding, with copies of the weights as they are now.
  WhisperModel snapshot() const;

 private:
  using Files = std::function<Result<std::map<std::string, std::string>>(WeightType)>;
  WhisperTask(WhisperParameters parameters, Labels labels, Files files, const WhisperRecipe& recipe, at::Device device);
  WhisperWeights current() const { return lora_ ? lora_->merged() : parameters_.weights; }
  at::Tensor features_of(const Batch& batch);
  at::Tensor audio_rows(const Batch& batch, const std::vector<std::int64_t>& kept);
  at::Tensor encoder_states(const WhisperWeights& weights, const at::Tensor& mel, const ForwardOptions& options) const;

  WhisperParameters parameters_;
  Labels labels_;
  Files files_;
  at::Device device_;
  at::Device data_device_ = at::kCPU;
  WhisperRecipe::Learning learning_;
  double window_share_;
  std::uint64_t seed_;
  ForwardOptions forward_{};
  std::optional<DeviceFeatures> features_{};  // none: the feed's threads compute them. Used by the thread that prepares
  std::optional<DeviceSet> set_{};            // likewise; none: batches bring their features
  std::optional<LowRankAdditions> lora_{};
  std::optional<CtcHead> ctc_{};
  std::vector<Parameter> trained_{};
};

}  // namespace tutti
