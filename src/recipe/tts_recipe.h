#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kTtsTraining = "tts";

/// Everything that the training of a voice depends on, as people write it. tts_fields.h gives each field its key, its
/// flag and its help.
struct TtsRecipe : TrainingRecipe {
  TtsRecipe() {
    max_steps = 4000;
    final_rate = 0.02;
    clip = 5;
    eval_steps = 500;
  }

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

  // Batches
  std::int32_t batch_size = 16;
  bool static_shapes = false;
  bool gradient_checkpointing = false;

  // Optimiser
  std::int32_t warmup_steps = 100;
};

}  // namespace tutti
