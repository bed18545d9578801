#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kWhisperTraining = "whisper";

/// Everything a Whisper training depends on, as people write it. One line in whisper_fields.h gives a field its key in
/// a TOML file, its flag and its help; both programs read and show recipes through it.
struct WhisperRecipe {
  enum class Normaliser { none, basic, english };
  enum class ChunkStrategy { sequential, sliding, random };
  enum class DataSet { stream, mapped, memory, device };
  enum class SpeechTask { transcribe, translate };
  enum class LabelKind { text, morse };
  enum class PaddedTo { window, bucket };
  enum class Order { planned, any };

  struct Data {
    std::filesystem::path source{};  // key "data"
    std::filesystem::path eval_data{};
    std::int32_t max_samples = 0;
    std::int32_t eval_samples = 200;
    Keyword<Normaliser, "none|basic|english"> normaliser = Normaliser::basic;
    std::int32_t bad_samples = 10000;
    double bad_share = 0.1;
    bool use_chunking = true;
    Keyword<ChunkStrategy, "sequential|sliding|random"> chunk_strategy = ChunkStrategy::sequential;
    std::string cache{};
    double cache_gigabytes = 8;
    Keyword<DataSet, "stream|mapped|memory|device"> data_set = DataSet::stream;
  };
  struct Augmentation {
    double speed_share = 0;
    double gain_share = 0;
    double noise_share = 0;
    double noise_least_db = 5;
    double noise_most_db = 40;
    double room_share = 0;
    std::int32_t mask_bands = 0;
    std::int32_t mask_stretches = 0;
  };
  struct Network {
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
    ExportWord export_type = ExportType::float16;
  };
  /// What the network's text is.
  struct Targets {
    std::string language = "en";
    Keyword<SpeechTask, "transcribe|translate"> task = SpeechTask::transcribe;
    double timestamps = 0;
    Keyword<LabelKind, "text|morse"> labels = LabelKind::text;
  };
  /// Which samples share a batch, and how many batches wait.
  struct Packing {
    double batch_seconds = 0;
    Keyword<PaddedTo, "window|bucket"> padding = PaddedTo::window;
    double window_share = 0.2;
    std::int32_t look_ahead = 512;
    Keyword<Order, "planned|any"> order = Order::planned;
    double ring_megabytes = 256;
  };
  /// What of the network learns, and by which losses.
  struct Learning {
    double dropout = 0;
    double ctc_weight = 0;
    double frame_weight = 0;
    double attention_weight = 0;
    bool freeze_encoder = false;
    std::int32_t lora_rank = 0;
    double lora_alpha = 16;
  };
  /// What computes beside the network's own device.
  struct Hardware {
    std::string devices{};
    std::string data_gpu{};
    bool gradient_checkpointing = false;
    std::int32_t threads = 0;
    std::int32_t read_threads = 1;
  };

  static constexpr std::string_view kTraining = kWhisperTraining;
  /// What a resumed training may not change: it decides which samples a batch holds (fingerprint_of in
  /// feed/options.cpp), and the network's shape.
  static constexpr std::string_view kBinding =
      "data max-samples use-chunking chunk-strategy cache speed-share gain-share noise-share noise-least-db "
      "noise-most-db room-share mask-bands mask-stretches model width heads encoder-layers decoder-layers mels "
      "window-seconds text-context vocabulary batch-size batch-seconds padding look-ahead ctc-weight "
      "frame-weight freeze-encoder lora-rank ema devices seed";

  Data data{};
  Augmentation augmentation{};
  Network network{};
  Targets targets{};
  BatchSettings batches{.epochs = 3};
  Packing packing{};
  OptimiserSettings optimiser{.learning_rate = 1e-5, .warmup_steps = 50, .schedule = RateShape::linear};
  Learning learning{};
  ArithmeticSettings arithmetic{.seed = 0};
  Hardware hardware{};
  RunSettings run{};
};

}  // namespace tutti
