#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kClassifierTraining = "classifier";

enum class ClassifierLossKind { cross_entropy, focal };

/// How much a label counts: by the inverse of its frequency, or every one alike.
enum class ClassWeights { inverse, none };

/// Everything that the training of a classifier depends on, as people write it. classifier_fields.h gives each field
/// its key, its flag and its help.
struct ClassifierRecipe {
  struct Augmentation {
    double gain_db = -1;
    double shift_share = -1;
    double noise_share = 0;
    double noise_least_db = 0;
    double noise_most_db = 30;
    double mixup = 0;
    bool use_specaugment = false;
    std::int32_t mask_bands = 1;
    std::int32_t mask_stretches = 1;
  };
  struct Network {
    std::int32_t channels = 0;
    std::int32_t hidden = 0;
    double dropout = 0.25;
    std::string against{};
    bool binary_mode = false;
    double boost = 2.5;
    bool two_stage = false;
    ExportWord export_type = ExportType::float32;
  };
  struct Loss {
    Keyword<ClassifierLossKind, "cross-entropy|focal"> kind = ClassifierLossKind::cross_entropy;
    double label_smoothing = 0;
    Keyword<ClassWeights, "inverse|none"> class_weights = ClassWeights::inverse;
  };

  static constexpr std::string_view kTraining = kClassifierTraining;
  /// What a resumed training may not change: it decides which samples a batch holds, and the network's shape.
  static constexpr std::string_view kBinding =
      "data gain-db shift-share noise-share noise-least-db noise-most-db mixup use-specaugment mask-bands "
      "mask-stretches channels hidden against binary-mode two-stage batch-size least-steps ema seed";

  std::filesystem::path data{};
  Augmentation augmentation{};
  Network network{};
  BatchSettings batches{.size = 8192, .epochs = 40};
  std::int32_t val_batch_size = 4096;
  std::int32_t least_steps = 20;
  OptimiserSettings optimiser{.final_rate = 1e-3, .ema = 0.98};
  Loss loss{};
  double tune_minutes = 0;
  ArithmeticSettings arithmetic{};
  RunSettings run{.keep = 3, .patience = 15};
};

}  // namespace tutti
