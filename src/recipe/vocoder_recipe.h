#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "recipe/training_fields.h"
#include "recipe/training_recipe.h"

namespace tutti {

/// The word behind `tutti train`.
inline constexpr std::string_view kVocoderTraining = "vocoder";

/// Everything that the training of a vocoder depends on, as people write it. visit_fields gives each field its
/// key, its flag and its help.
struct VocoderRecipe {
  struct Data {
    std::filesystem::path train_data{};
    std::filesystem::path voice{};
  };
  struct Network {
    std::int32_t width = 128;
    std::int32_t layers = 6;
    ExportWord export_type = ExportType::float16;
  };

  static constexpr std::string_view kTraining = kVocoderTraining;
  /// What a resumed training may not change: it decides which samples a batch holds, and the network's shape.
  static constexpr std::string_view kBinding = "train-data voice width layers batch-size ema seed";

  Data data{};
  Network network{};
  BatchSettings batches{.max_steps = 6000};
  OptimiserSettings optimiser{.final_rate = 0.02, .beta2 = 0.98, .clip = 5};
  ArithmeticSettings arithmetic{};
  RunSettings run{.eval_steps = 500};
};

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(VocoderRecipe& r, Visit&& visit) {
  visit.group("Data");
  visit(
      "train-data", r.data.train_data, "SET",
      "recordings to learn from: a folder that 'tutti prepare tts --waveforms' wrote. Its part for validation chooses "
      "the best network, 32 clips at most");
  visit(
      "voice", r.data.voice, "DIR",
      "learn from the spectrograms that this voice makes of the clips' texts, in the time of the recordings, in place "
      "of the recordings' own: for a vocoder of this voice");
  visit.group("Network");
  visit("width", r.network.width, "N", "width of the blocks");
  visit("layers", r.network.layers, "N", "number of blocks");
  visit_export_type(r.network.export_type, visit);
  visit_batches(r.batches, visit, "crops of clips computed together, of 64 frames each", [] {});
  visit_optimiser(r.optimiser, visit);
  visit_arithmetic(r.arithmetic, visit, "seed of order, weights, crops and noise");
  visit_run(r.run, visit);
}

}  // namespace tutti
