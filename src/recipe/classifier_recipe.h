#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kClassifierTraining = "classifier";

/// Everything that the training of a classifier depends on, as people write it. classifier_fields.h gives each field
/// its key, its flag and its help.
struct ClassifierRecipe {
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
  std::int32_t channels = 32;
  double dropout = 0.25;
  std::string against{};
  bool binary_mode = false;
  double boost = 2.5;
  bool two_stage = false;
  std::string export_type = "float32";

  // Batches and length of the run
  std::int32_t batch_size = 8192;
  std::int32_t val_batch_size = 4096;
  std::int32_t least_steps = 20;
  std::int32_t accumulation = 1;
  std::int32_t epochs = 40;
  std::int32_t max_steps = 0;
  double max_minutes = 0;
  std::int32_t ring_depth = 0;

  // Optimiser
  double learning_rate = 1e-3;
  std::int32_t warmup_epochs = 3;
  std::string schedule = "cosine";
  double final_rate = 1e-3;
  double weight_decay = 0.01;
  double clip = 1;
  double ema = 0.98;
  std::string loss = "cross-entropy";
  double label_smoothing = 0;
  std::string class_weights = "inverse";
  double tune_minutes = 0;

  // Arithmetic
  std::string device = "auto";
  std::string precision = "float32";
  std::int32_t compute_threads = 0;
  double device_memory = 0;
  std::uint64_t seed = 1234;

  // Checkpoints, evaluation, reports
  std::int32_t log_steps = 10;
  std::int32_t save_steps = 500;
  std::int32_t eval_steps = 0;
  std::int32_t keep = 3;
  std::int32_t patience = 15;
  std::int32_t bad_step_limit = 10;
  bool log_order = false;
};

}  // namespace tutti
