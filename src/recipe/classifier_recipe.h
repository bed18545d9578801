#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kClassifierTraining = "classifier";

/// Everything that the training of a classifier depends on, as people write it. classifier_fields.h gives each field
/// its key, its flag and its help.
struct ClassifierRecipe : TrainingRecipe {
  ClassifierRecipe() {
    epochs = 40;
    final_rate = 1e-3;
    ema = 0.98;
    keep = 3;
    patience = 15;
    export_type = "float32";
  }

  // Data
  std::filesystem::path data{};

  // Augmentation
  double gain_db = -1;
  double shift_share = -1;
  double noise_share = 0;
  double noise_least_db = 0;
  double noise_most_db = 30;
  double mixup = 0;
  bool use_specaugment = false;
  std::int32_t mask_bands = 1;
  std::int32_t mask_stretches = 1;

  // Network
  std::int32_t channels = 0;
  std::int32_t hidden = 0;
  double dropout = 0.25;
  std::string against{};
  bool binary_mode = false;
  double boost = 2.5;
  bool two_stage = false;

  // Batches
  std::int32_t batch_size = 8192;
  std::int32_t val_batch_size = 4096;
  std::int32_t least_steps = 20;

  // Optimiser
  std::int32_t warmup_epochs = 3;
  std::string loss = "cross-entropy";
  double label_smoothing = 0;
  std::string class_weights = "inverse";
  double tune_minutes = 0;
};

}  // namespace tutti
