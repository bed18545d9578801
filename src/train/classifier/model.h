#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/labelled/sound_geometry.h"
#include "train/classifier/network.h"

namespace tutti {

/// A classifier as it is stored: what it takes, what it answers, and its weights.
struct ClassifierModel {
  SoundGeometry geometry{};
  std::vector<std::string> labels{};
  std::string against{};  // the label of the second head; empty: there is none
  ClassifierShape shape{};
  at::Tensor mean{};                 // [n_mels, 1] float32: of the training set's features
  at::Tensor deviation{};            // likewise
  std::vector<Parameter> weights{};  // float32

  /// Features (any shape that ends in [n_mels, frames]) as the network takes them: [rows, n_mels, frames] float32.
  at::Tensor normalised(const at::Tensor& features) const;
  /// Probabilities of the labels, [rows, labels] float32, of normalised rows; no gradients. Enqueues only.
  at::Tensor probabilities(const at::Tensor& rows) const;

  /// config.json and model_meta.json, for a folder with the weights.
  std::map<std::string, std::string> files(const std::string& weight_type) const;

  /// Reads model.safetensors and config.json of a folder, weights of any float type. Fault::missing or Fault::corrupt
  /// names the file.
  static Result<ClassifierModel> load(const std::filesystem::path& folder, at::Device device);
};

}  // namespace tutti
