#pragma once

#include "recipe/training_fields.h"
#include "recipe/vocoder_recipe.h"

namespace tutti {

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(VocoderRecipe& r, Visit&& visit) {
  visit.group("Data");
  visit(
      "train-data", r.train_data, "SET",
      "recordings to learn from: a folder that 'tutti prepare tts --waveforms' wrote. Its part for validation chooses "
      "the best network, 32 clips at most");
  visit.group("Network");
  visit("width", r.width, "N", "width of the blocks");
  visit("layers", r.layers, "N", "number of blocks");
  visit("export-type", r.export_type, "TYPE", "number type of the weights in OUT/model: float32, float16 or bfloat16");
  visit.group("Batches");
  visit("batch-size", r.batch_size, "N", "crops of clips computed together, of 64 frames each");
  visit_length_fields(r, visit);
  visit.group("Optimiser");
  visit("learning-rate", r.learning_rate, "RATE", "AdamW's, at its highest");
  visit("warmup-steps", r.warmup_steps, "N", "in which the rate rises to it");
  visit("schedule", r.schedule, "constant|linear|cosine", "how the rate falls afterwards, until max-steps or epochs");
  visit("final-rate", r.final_rate, "SHARE", "share of the rate that is left at the end");
  visit("weight-decay", r.weight_decay, "X", "decoupled; of matrices, not of biases and norms");
  visit("clip", r.clip, "NORM", "gradients are scaled down to this norm; 0: never");
  visit("ema", r.ema, "DECAY", "keep a moving average of the weights, evaluate and export it; 0: none");
  visit_device_fields(r, visit, "seed of order, weights, crops and noise");
  visit_report_fields(r, visit);
}

}  // namespace tutti
