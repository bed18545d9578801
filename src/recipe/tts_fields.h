#pragma once

#include "recipe/training_fields.h"
#include "recipe/tts_recipe.h"

namespace tutti {

template <class Visit>
void visit_tts_input(TtsRecipe& r, Visit& visit) {
  visit.group("Data");
  visit("train-data", r.train_data, "SET", "what to learn: a folder that 'tutti prepare tts' wrote");
  visit("val-data", r.val_data, "SET",
        "what to choose the best network by: its part for validation, or all of it where that is empty, 128 clips at "
        "most; "
        "without it, the set's part for validation");
  visit(
      "data-gpu", r.data_gpu, "model|cuda:N|cpu|cpu:CORES",
      "the device that computes the spectrograms in the training, of a set with waveforms ('tutti prepare tts "
      "--waveforms'): the network's, another GPU, the processor, or cores of it (cpu:0, cpu:0-3). Without it the set's "
      "own are taken");
  visit(
      "data-gpu-memory", r.data_gpu_memory, "MB",
      "most memory of that device for the data's tensors; of cores the batches that are ready count, too. 0: no limit");
  visit("speed-share", r.speed_share, "SHARE",
        "share of the clips that are played 10 % slower to 10 % faster, which moves their pitch; as what follows for "
        "--data-gpu alone");
  visit("noise-share", r.noise_share, "SHARE", "share of the clips that get noise");
  visit("noise-least-db", r.noise_least_db, "DB", "loudest noise: the clip's power over the noise's");
  visit("noise-most-db", r.noise_most_db, "DB", "softest noise");
  visit("room-share", r.room_share, "SHARE", "share of the clips that get the echo of a room");
  visit.group("Network");
  visit("model", r.model, "DIR",
        "the voice to begin with, of the same symbols and spectrograms; its dimensions count, not those below. Without "
        "it: "
        "a new one");
  visit("model-size", r.model_size, "SIZE",
        "nano (about 5 M parameters, for two cores), or note 002's tiny, small, normal or big");
  visit("width", r.width, "N", "width of the text encoder; 0, here and below: the size's");
  visit("encoder-layers", r.encoder_layers, "N", "layers of the text encoder");
  visit("decoder-width", r.decoder_width, "N",
        "width of the decoder; its blocks are as many times wider inside as the size's");
  visit("decoder-layers", r.decoder_layers, "N", "blocks of the decoder");
  visit("dropout", r.dropout, "SHARE", "share of activations in the encoder and in what predicts durations");
  visit("export-type", r.export_type, "TYPE", "number type of the weights in OUT/model: float32, float16 or bfloat16");
}

template <class Visit>
void visit_tts_steps(TtsRecipe& r, Visit& visit) {
  visit.group("Batches");
  visit("batch-size", r.batch_size, "N", "clips computed together");
  visit(
      "static-shapes", r.static_shapes, "",
      "batches of clips of like length in a few shapes, with as many frames as batch-size clips of the mean length: no "
      "new shape comes up after the first epoch");
  visit(
      "gradient-checkpointing", r.gradient_checkpointing, "",
      "compute the activations of layers and blocks twice instead of keeping them: larger batches, a third more time");
  visit_length_fields(r, visit);
  visit_optimiser_fields(r, visit,
                         [&] { visit("warmup-steps", r.warmup_steps, "N", "in which the rate rises to it"); });
}

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(TtsRecipe& r, Visit&& visit) {
  visit_tts_input(r, visit);
  visit_tts_steps(r, visit);
  visit_device_fields(r, visit, "seed of order, weights, dropout, crops and noise", "auto|cpu|cpu:CORES|cuda:N");
  visit_report_fields(r, visit);
}

}  // namespace tutti
