#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kWhisperTraining = "whisper";

/// Everything a Whisper training depends on, as people write it. One line in whisper_fields.h gives a field its key in
/// a TOML file, its flag and its help; both programs read and show recipes through it.
struct WhisperRecipe {
  // Data
  std::filesystem::path data{};
  std::filesystem::path eval_data{};
  std::int32_t max_samples = 0;
  std::int32_t eval_samples = 200;
  std::string normaliser = "basic";
  std::int32_t bad_samples = 10000;
  double bad_share = 0.1;
  bool use_chunking = true;
  std::string chunk_strategy = "sequential";
  std::string cache{};
  double cache_gigabytes = 8;
  std::string data_set = "stream";

  // Augmentation
  double speed_share = 0;
  double gain_share = 0;
  double noise_share = 0;
  double noise_least_db = 5;
  double noise_most_db = 40;
  double room_share = 0;
  std::int32_t mask_bands = 0;
  std::int32_t mask_stretches = 0;

  // Model
  std::string model{};
  std::int32_t width = 384;
  std::int32_t heads = 6;
  std::int32_t encoder_layers = 4;
  std::int32_t decoder_layers = 4;
  std::int32_t mels = 80;
  double window_seconds = 30;
  std::int32_t text_context = 448;
  std::string vocabulary = "bytes";
  bool local_attention = false;
  std::string language = "en";
  std::string task = "transcribe";
  double timestamps = 0;
  std::string labels = "text";
  std::string export_type = "float16";

  // Batches and length of the run
  std::int32_t batch_size = 16;
  double batch_seconds = 0;
  std::string padding = "window";
  double window_share = 0.2;
  std::int32_t look_ahead = 512;
  std::int32_t accumulation = 1;
  std::int32_t epochs = 3;
  std::int32_t max_steps = 0;
  double max_minutes = 0;
  std::int32_t ring_depth = 0;
  double ring_megabytes = 256;

  // Optimiser
  double learning_rate = 1e-5;
  std::int32_t warmup_steps = 50;
  std::string schedule = "linear";
  std::int32_t schedule_steps = 0;
  std::int32_t cycles = 1;
  double final_rate = 0;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip = 1;
  double ema = 0;
  double dropout = 0;
  double ctc_weight = 0;
  double frame_weight = 0;
  double attention_weight = 0;
  bool freeze_encoder = false;
  std::int32_t lora_rank = 0;
  double lora_alpha = 16;

  // Arithmetic
  std::string device = "auto";
  std::string devices{};
  std::string data_gpu{};
  std::string precision = "float32";
  bool gradient_checkpointing = false;
  std::int32_t compute_threads = 0;
  double device_memory = 0;
  std::int32_t threads = 0;
  std::int32_t read_threads = 1;
  std::uint64_t seed = 0;

  // Checkpoints, evaluation, reports
  std::int32_t log_steps = 10;
  std::int32_t save_steps = 500;
  std::int32_t eval_steps = 0;
  std::int32_t keep = 2;
  std::int32_t patience = 0;
  std::int32_t bad_step_limit = 10;
  bool log_order = false;
};

}  // namespace tutti
