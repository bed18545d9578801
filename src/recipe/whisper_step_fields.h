#pragma once

#include "recipe/training_fields.h"
#include "recipe/whisper_recipe.h"

// The fields of how a Whisper training goes: its batches, optimiser, arithmetic and reports. See whisper_fields.h.
namespace tutti {

template <class Visit>
void visit_batch_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Batches");
  visit("batch-size", r.batch_size, "N", "samples computed together");
  visit("batch-seconds", r.batch_seconds, "S", "audio computed together at most, padding included; 0: no such limit");
  visit("padding", r.padding, "window|bucket",
        "fill up to the model's window, or only to the longest sample of the batch: much less work");
  visit(
      "window-share", r.window_share, "SHARE",
      "share of the batches that are filled up with silence to the window although padding is 'bucket': without any, a "
      "network forgets the silence that follows speech when it transcribes");
  visit("look-ahead", r.look_ahead, "N", "samples among which a batch of like lengths is chosen");
  visit("order", r.order, "planned|any",
        "any: batches come as they are whole, so that a slow file delays its own batch alone; each sample still comes "
        "once an epoch, but two runs are not alike");
  visit_length_fields(r, visit);
  visit("ring-megabytes", r.ring_megabytes, "MB",
        "memory of the waiting batches, where ring-depth is 0 and more of them hide stalls of the feed");
}

template <class Visit>
void visit_optimiser_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Optimiser");
  visit("learning-rate", r.learning_rate, "RATE", "AdamW's highest learning rate");
  visit("warmup-steps", r.warmup_steps, "N", "steps in which the learning rate rises from 0");
  visit("schedule", r.schedule, "constant|linear|cosine", "how the rate falls afterwards");
  visit("schedule-steps", r.schedule_steps, "N",
        "steps in which the rate falls, where the training ends earlier or goes on; 0: all of its own");
  visit("cycles", r.cycles, "N", "cycles of schedule cosine; more than 1: with restarts");
  visit("final-rate", r.final_rate, "SHARE", "share of the learning rate that is left at the end");
  visit("weight-decay", r.weight_decay, "X", "decoupled weight decay of matrices, not of biases and norms");
  visit("beta1", r.beta1, "X", "AdamW's decay of the gradients' mean");
  visit("beta2", r.beta2, "X", "AdamW's decay of the squared gradients' mean");
  visit("epsilon", r.epsilon, "X", "AdamW's smallest divisor");
  visit("clip", r.clip, "NORM", "gradients are scaled down to this norm; 0: never");
  visit("ema", r.ema, "DECAY", "keep a moving average of the weights and export it; 0: none");
  visit("dropout", r.dropout, "SHARE", "share of activations that are dropped behind every layer");
  visit("ctc-weight", r.ctc_weight, "X",
        "weight of the encoder's CTC loss beside the decoder's: a new network learns to use the audio sooner");
  visit("frame-weight", r.frame_weight, "X",
        "weight of the loss of the encoder's letters frame by frame, where the times of words (or letters) are known");
  visit(
      "attention-weight", r.attention_weight, "X",
      "weight of the loss of attending elsewhere than to a token's audio, for one head of every layer of the decoder");
  visit("freeze-encoder", r.freeze_encoder, "", "train the decoder alone");
  visit("lora-rank", r.lora_rank, "N", "train additions of this rank to queries and values alone; 0: the weights");
  visit("lora-alpha", r.lora_alpha, "X", "their scale is this divided by the rank");
}

template <class Visit>
void visit_arithmetic_fields(WhisperRecipe& r, Visit& visit) {
  visit.group("Arithmetic");
  visit("device", r.device, "auto|cpu|cuda:N", "where the network is; auto: the first GPU, else the processor");
  visit("devices", r.devices, "LIST",
        "train on all of these at once, a process each: cuda:0,cuda:1, auto (every GPU), cpu:0,cpu:1; without it: on "
        "'device'");
  visit(
      "data-gpu", r.data_gpu, "model|cuda:N|cpu",
      "device that computes augmentation and features, beside the steps: the network's own, another card, or the cores "
      "by the same arithmetic; without it: the threads of the feed");
  visit("precision", r.precision, "float32|tf32|bfloat16|float16", "type of matrix products; float16 scales the loss");
  visit("gradient-checkpointing", r.gradient_checkpointing, "",
        "compute activations twice instead of keeping them: less memory, a third more time");
  visit("compute-threads", r.compute_threads, "N", "threads of the network; 0: one per core. Kept when resuming");
  visit("device-memory", r.device_memory, "MB",
        "most memory of the device for the training's tensors; a batch that needs more is split. 0: no limit");
  visit("threads", r.threads, "N",
        "threads of the feed's stages that compute; 0: as many as the cores; changes no batch");
  visit("read-threads", r.read_threads, "N",
        "threads of the feed that wait for files: more where storage is slow to answer, as over a network. They read "
        "ahead in four batches at most; changes no batch");
  visit("seed", r.seed, "N", "seed of order, weights, dropout and augmentation");
}

}  // namespace tutti
