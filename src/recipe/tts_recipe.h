#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kTtsTraining = "tts";

/// Everything that the training of a voice depends on, as people write it. tts_fields.h gives each field its key, its
/// flag and its help.
struct TtsRecipe {
  // Data
  std::filesystem::path train_data{};
  std::filesystem::path val_data{};
  std::string data_gpu{};
  double data_gpu_memory = 0;
  double speed_share = 0;
  double noise_share = 0;
  double noise_least_db = 10;
  double noise_most_db = 40;
  double room_share = 0;

  // Network
  std::filesystem::path model{};
  std::string model_size = "nano";
  std::int32_t width = 0;
  std::int32_t encoder_layers = 0;
  std::int32_t decoder_width = 0;
  std::int32_t decoder_layers = 0;
  double dropout = 0;
  std::string export_type = "float16";

  // Batches and length of the run
  std::int32_t batch_size = 16;
  bool static_shapes = false;
  std::int32_t accumulation = 1;
  std::int32_t epochs = 0;
  std::int32_t max_steps = 4000;
  double max_minutes = 0;
  std::int32_t ring_depth = 0;

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
