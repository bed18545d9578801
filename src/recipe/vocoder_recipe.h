#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kVocoderTraining = "vocoder";

/// Everything that the training of a vocoder depends on, as people write it. vocoder_fields.h gives each field its key,
/// its flag and its help.
struct VocoderRecipe {
  // Data and network
  std::filesystem::path train_data{};
  std::int32_t width = 128;
  std::int32_t layers = 6;
  std::string export_type = "float16";

  // Batches and length of the run
  std::int32_t batch_size = 16;
  std::int32_t accumulation = 1;
  std::int32_t epochs = 0;
  std::int32_t max_steps = 6000;
  double max_minutes = 0;
  std::int32_t ring_depth = 3;

  // Optimiser
  double learning_rate = 1e-3;
  std::int32_t warmup_steps = 100;
  std::string schedule = "cosine";
  double final_rate = 0.02;
  double weight_decay = 0.01;
  double clip = 5;
  double ema = 0;

  // Arithmetic
  std::string device = "auto";
  std::string precision = "float32";
  std::int32_t compute_threads = 0;
  double device_memory = 0;
  std::uint64_t seed = 1234;

  // Checkpoints, evaluation, reports
  std::int32_t log_steps = 10;
  std::int32_t save_steps = 500;
  std::int32_t eval_steps = 500;
  std::int32_t keep = 2;
  std::int32_t patience = 0;
  std::int32_t bad_step_limit = 10;
  bool log_order = false;
};

}  // namespace tutti
