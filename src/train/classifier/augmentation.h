#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "feed/batch.h"
#include "feed/labelled/audio_geometry.h"
#include "recipe/classifier_recipe.h"

namespace tutti {

/// What learned segments are changed by: gain, a shift in time, white noise, blanked bands and stretches, and mixtures
/// of two. Everything is drawn by seed, epoch and row (noise by seed and batch), so that a training that goes on draws
/// the same. Immutable; drawing and applying may run in two threads.
class ClassifierAugmentation {
 public:
  /// A recipe's gain and shift of -1 become those that suit the geometry.
  ClassifierAugmentation(const ClassifierRecipe& recipe, const AudioGeometry& geometry, at::Device device);

  /// Nothing is changed.
  bool is_off() const;
  /// Every row is mixed with the one behind it in its batch.
  bool mixes() const { return settings_.mixup > 0; }
  /// What is drawn for a batch, in host memory: [rows, columns] float32 and, with noise, [rows, n_mels, frames]
  /// float32.
  std::vector<at::Tensor> drawn(const Batch& batch) const;
  /// How many tensors `drawn` gives.
  std::size_t tensors() const { return settings_.noise_share > 0 ? 2 : 1; }

  /// Features in decibels, [rows, n_mels, frames] float32, louder or softer, moved in time and with noise. Enqueues
  /// only.
  at::Tensor changed(const at::Tensor& features, const std::vector<at::Tensor>& draws) const;
  /// Normalised features with masks laid over them. Enqueues only.
  at::Tensor masked(at::Tensor features, const std::vector<at::Tensor>& draws) const;
  /// What a mixture has of its own row: [rows] float32.
  at::Tensor own_shares(const std::vector<at::Tensor>& draws) const;

 private:
  void draw_row(std::uint64_t epoch, std::uint64_t row, float* into) const;
  at::Tensor with_noise(const at::Tensor& features, const std::vector<at::Tensor>& draws) const;

  std::int64_t n_mels_;
  std::int64_t frames_;
  ClassifierRecipe::Augmentation settings_;  // as the set decides what the recipe leaves open
  double shift_ = 0;                         // most frames to either side
  std::uint64_t seed_;
  at::Tensor noise_mean_{};       // [n_mels, 1] float32, decibels of white noise with a mean power of 1
  at::Tensor noise_deviation_{};  // likewise
};

}  // namespace tutti
