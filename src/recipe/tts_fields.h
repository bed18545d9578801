#pragma once

#include "recipe/training_fields.h"
#include "recipe/tts_recipe.h"

namespace tutti {

template <class Visit>
void visit_tts_input(TtsRecipe& r, Visit& visit) {
  visit.group("Data");
  visit("train-data", r.data.train_data, "SET", "what to learn: a folder that 'tutti prepare tts' wrote");
  visit("val-data", r.data.val_data, "SET",
        "what to choose the best network by: its part for validation, or all of it where that is empty, 128 clips at "
        "most; "
        "without it, the set's part for validation");
  visit(
      "data-gpu", r.data.gpu, "model|cuda:N|cpu|cpu:CORES",
      "the device that computes the spectrograms in the training, of a set with waveforms ('tutti prepare tts "
      "--waveforms'): the network's, another GPU, the processor, or cores of it (cpu:0, cpu:0-3). Without it the set's "
      "own are taken");
  visit(
      "data-gpu-memory", r.data.gpu_memory, "MB",
      "most memory of that device for the data's tensors; of cores the batches that are ready count, too. 0: no limit");
  visit("speed-share", r.augmentation.speed_share, "SHARE",
        "share of the clips that are played 10 % slower to 10 % faster, which moves their pitch; as what follows for "
        "--data-gpu alone");
  visit("noise-share", r.augmentation.noise_share, "SHARE", "share of the clips that get noise");
  visit("noise-least-db", r.augmentation.noise_least_db, "DB", "loudest noise: the clip's power over the noise's");
  visit("noise-most-db", r.augmentation.noise_most_db, "DB", "softest noise");
  visit("room-share", r.augmentation.room_share, "SHARE", "share of the clips that get the echo of a room");
  visit.group("Network");
  visit("model", r.network.model, "DIR",
        "the voice to begin with, of the same symbols and spectrograms; its dimensions count, not those below. Without "
        "it: "
        "a new one");
  visit("model-size", r.network.model_size, "SIZE",
        "nano (about 5 M parameters, for two cores), or note 002's tiny, small, normal or big");
  visit("width", r.network.width, "N", "width of the text encoder; 0, here and below: the size's");
  visit("encoder-layers", r.network.encoder_layers, "N", "layers of the text encoder");
  visit("decoder-width", r.network.decoder_width, "N",
        "width of the decoder; its blocks are as many times wider inside as the size's");
  visit("decoder-layers", r.network.decoder_layers, "N", "blocks of the decoder");
  visit("dropout", r.network.dropout, "SHARE", "share of activations in the encoder and in what predicts durations");
  visit_export_type(r.network.export_type, visit);
}

/// As visit_fields of a Whisper recipe.
template <class Visit>
void visit_fields(TtsRecipe& r, Visit&& visit) {
  visit_tts_input(r, visit);
  visit_batches(r.batches, visit, "clips computed together", [&] {
    visit(
        "static-shapes", r.static_shapes, "",
        "batches of clips of like length in a few shapes, with as many frames as batch-size clips of the mean length: "
        "no new shape comes up after the first epoch");
    visit("gradient-checkpointing", r.network.gradient_checkpointing, "",
          "compute the activations of layers and blocks twice instead of keeping them: larger batches, a third more "
          "time");
  });
  visit_optimiser(r.optimiser, visit);
  visit_arithmetic(r.arithmetic, visit, "seed of order, weights, dropout, crops and noise",
                   "auto|cpu|cpu:CORES|cuda:N");
  visit_run(r.run, visit);
}

}  // namespace tutti
