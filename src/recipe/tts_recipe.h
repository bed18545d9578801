#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kTtsTraining = "tts";

/// The sizes of a voice's network.
enum class VoiceSize { nano, tiny, small, normal, big };
using VoiceSizeWord = Keyword<VoiceSize, "nano|tiny|small|normal|big">;

/// Everything that the training of a voice depends on, as people write it. tts_fields.h gives each field its key, its
/// flag and its help.
struct TtsRecipe {
  struct Data {
    std::filesystem::path train_data{};
    std::filesystem::path val_data{};
    std::string gpu{};
    double gpu_memory = 0;
  };
  struct Augmentation {
    double speed_share = 0;
    double noise_share = 0;
    double noise_least_db = 10;
    double noise_most_db = 40;
    double room_share = 0;
  };
  struct Network {
    std::filesystem::path model{};
    VoiceSizeWord model_size = VoiceSize::nano;
    std::int32_t width = 0;
    std::int32_t encoder_layers = 0;
    std::int32_t decoder_width = 0;
    std::int32_t decoder_layers = 0;
    double dropout = 0;
    ExportWord export_type = ExportType::float16;
    bool gradient_checkpointing = false;
  };

  static constexpr std::string_view kTraining = kTtsTraining;
  /// What a resumed training may not change: it decides which samples a batch holds, and the network's shape.
  static constexpr std::string_view kBinding =
      "train-data model model-size width encoder-layers decoder-width decoder-layers batch-size static-shapes "
      "ema seed";

  Data data{};
  Augmentation augmentation{};
  Network network{};
  BatchSettings batches{.max_steps = 4000};
  bool static_shapes = false;
  OptimiserSettings optimiser{.final_rate = 0.02, .beta2 = 0.98, .clip = 5};
  ArithmeticSettings arithmetic{};
  RunSettings run{.eval_steps = 500};
};

}  // namespace tutti
