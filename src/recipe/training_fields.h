#pragma once

// The fields that the recipes of all trainings have, with one key, flag and help. See whisper_fields.h.
namespace tutti {

/// Batches that wait where a recipe leaves ring-depth open.
inline constexpr int kUsualRingDepth = 3;
/// The depth that a training's ring begins with, by its recipe.
constexpr int ring_depth_of(int ring_depth) {
  return ring_depth > 0 ? ring_depth : kUsualRingDepth;
}

/// How many batches a step takes, how long the training lasts, and how far its batches are prepared ahead.
template <class Recipe, class Visit>
void visit_length_fields(Recipe& r, Visit& visit) {
  visit("accumulation", r.accumulation, "N", "batches that make one step");
  visit("epochs", r.epochs, "N", "passes over the data; 0: until max-steps");
  visit("max-steps", r.max_steps, "N", "end after so many steps, where the epochs are not over before; 0: no such end");
  visit("max-minutes", r.max_minutes, "MIN", "end after so long; --resume goes on from there. 0: no such end");
  visit("ring-depth", r.ring_depth, "N",
        "batches that wait on the device, or are on their way, while it steps; 0: 3, and more where that is faster");
}

/// AdamW as trainings of one process have it. `warm_up`: visits the field of how its rate rises.
template <class Recipe, class Visit, class WarmUp>
void visit_optimiser_fields(Recipe& r, Visit& visit, WarmUp&& warm_up) {
  visit.group("Optimiser");
  visit("learning-rate", r.learning_rate, "RATE", "AdamW's, at its highest");
  warm_up();
  visit("schedule", r.schedule, "constant|linear|cosine", "how the rate falls afterwards, until max-steps or epochs");
  visit("final-rate", r.final_rate, "SHARE", "share of the rate that is left at the end");
  visit("weight-decay", r.weight_decay, "X", "decoupled; of matrices, not of biases and norms");
  visit("clip", r.clip, "NORM", "gradients are scaled down to this norm; 0: never");
  visit("ema", r.ema, "DECAY", "keep a moving average of the weights, evaluate and export it; 0: none");
}

/// Where and in what one process computes. `seeded`: the help of its seed; `devices`: the names that it takes.
template <class Recipe, class Visit>
void visit_device_fields(Recipe& r, Visit& visit, const char* seeded, const char* devices = "auto|cpu|cuda:N") {
  visit.group("Arithmetic");
  visit("device", r.device, devices, "where the network is; auto: the first GPU, else the processor");
  visit("precision", r.precision, "float32|tf32|bfloat16|float16", "type of matrix products; float16 scales the loss");
  visit("compute-threads", r.compute_threads, "N", "threads of the network; 0: one per core. Kept when resuming");
  visit("device-memory", r.device_memory, "MB",
        "most memory of the device for the training's tensors; a batch that needs more is split. 0: no limit");
  visit("seed", r.seed, "N", seeded);
}

/// Checkpoints, evaluations and reports.
template <class Recipe, class Visit>
void visit_report_fields(Recipe& r, Visit& visit) {
  visit.group("Checkpoints and reports");
  visit("log-steps", r.log_steps, "N", "steps between lines of OUT/metrics.jsonl");
  visit("save-steps", r.save_steps, "N", "steps between checkpoints; 0: at the end of epochs alone");
  visit("eval-steps", r.eval_steps, "N", "steps between evaluations; 0: at the end of epochs");
  visit("keep", r.keep, "N", "checkpoints kept beside the best one");
  visit("patience", r.patience, "N", "evaluations without progress that end the training; 0: never");
  visit("bad-step-limit", r.bad_step_limit, "N",
        "steps in a row with a NaN or infinite loss that are skipped; one more ends the training");
  visit("log-order", r.log_order, "", "write the ids of every step to OUT/order.jsonl");
}

}  // namespace tutti
