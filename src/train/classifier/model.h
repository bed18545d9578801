#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/labelled/audio_geometry.h"
#include "train/classifier/file_scores.h"
#include "train/classifier/network.h"

namespace tutti {

/// A classifier as it is stored: what it takes, what it answers, and its weights. It is a network, or the plain
/// baseline: logistic regression on mean and deviation of a clip's bands (baseline.h), whose answer is that of every
/// segment of the clip. Or it is both: the mean of the logarithms of their probabilities, made to add up to 1.
struct ClassifierModel {
  AudioGeometry geometry{};
  std::vector<std::string> labels{};
  std::string against{};   // the label of the second head; empty: there is none
  bool is_binary = false;  // the labels are `against` and the rest of the set that it learned
  bool is_baseline = false;
  bool is_mixed = false;             // network and baseline; the baseline's weights are behind the network's
  ClassifierShape shape{};           // of a baseline mels, frames and labels alone
  FileDecision decision{};           // whether a file has that label
  at::Tensor mean{};                 // [n_mels, 1] float32: of the training set's features
  at::Tensor deviation{};            // likewise; of a baseline 0 and 1
  std::vector<Parameter> weights{};  // float32

  /// Features (any shape that ends in [n_mels, frames]) as the network takes them: [rows, n_mels, frames] float32.
  at::Tensor normalised(const at::Tensor& features) const;
  /// Probabilities of normalised rows, [rows, labels + 1] float32: of each label, and behind them, with a second head,
  /// half of its label's probability by either head together (without one: 0). The rows are those of whole clips. No
  /// gradients. Enqueues only.
  at::Tensor probabilities(const at::Tensor& rows) const;
  /// This network and a baseline of the same labels and geometry as one model. Neither has a second head.
  ClassifierModel mixed_with(const ClassifierModel& baseline) const;
  /// The answer to a file by such rows of all its segments, in host memory, in order.
  FileAnswer answer_of(const at::Tensor& probabilities) const;
  at::Tensor with_decided(const at::Tensor& probabilities, const at::Tensor& logits) const;
  AgainstRule rule() const;
  /// As probabilities, of the network alone.
  at::Tensor network_probabilities(const at::Tensor& rows) const;

  /// config.json and model_meta.json, for a folder with the weights.
  std::map<std::string, std::string> files(const std::string& weight_type) const;

  /// Reads model.safetensors and config.json of a folder, weights of any float type. Fault::missing or Fault::corrupt
  /// names the file.
  static Result<ClassifierModel> load(const std::filesystem::path& folder, at::Device device);
};

}  // namespace tutti
