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
struct VocoderRecipe : TrainingRecipe {
  VocoderRecipe() {
    max_steps = 6000;
    final_rate = 0.02;
    clip = 5;
    eval_steps = 500;
  }

  std::filesystem::path train_data{};
  std::filesystem::path voice{};
  std::int32_t width = 128;
  std::int32_t layers = 6;
  std::int32_t batch_size = 16;
  std::int32_t warmup_steps = 100;
};

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(VocoderRecipe& r, Visit&& visit) {
  visit.group("Data");
  visit(
      "train-data", r.train_data, "SET",
      "recordings to learn from: a folder that 'tutti prepare tts --waveforms' wrote. Its part for validation chooses "
      "the best network, 32 clips at most");
  visit(
      "voice", r.voice, "DIR",
      "learn from the spectrograms that this voice makes of the clips' texts, in the time of the recordings, in place "
      "of the recordings' own: for a vocoder of this voice");
  visit.group("Network");
  visit("width", r.width, "N", "width of the blocks");
  visit("layers", r.layers, "N", "number of blocks");
  visit("export-type", r.export_type, "TYPE", "number type of the weights in OUT/model: float32, float16 or bfloat16");
  visit.group("Batches");
  visit("batch-size", r.batch_size, "N", "crops of clips computed together, of 64 frames each");
  visit_length_fields(r, visit);
  visit_optimiser_fields(r, visit,
                         [&] { visit("warmup-steps", r.warmup_steps, "N", "in which the rate rises to it"); });
  visit_device_fields(r, visit, "seed of order, weights, crops and noise");
  visit_report_fields(r, visit);
}

}  // namespace tutti
