#pragma once

#include "recipe/training_recipe.h"

// The settings of the parts that all recipes have: key, flag, value's name and help of each. See whisper_fields.h.
namespace tutti {

/// Batches that wait where a recipe leaves ring-depth open.
inline constexpr int kUsualRingDepth = 3;
/// The depth that a training's ring begins with, by its recipe.
constexpr int ring_depth_of(int ring_depth) {
  return ring_depth > 0 ? ring_depth : kUsualRingDepth;
}

template <class Visit>
void visit_export_type(ExportWord& type, Visit& visit) {
  visit("export-type", type, "TYPE", "number type of the weights in OUT/model: float32, float16 or bfloat16");
}

/// `size`: the help of batch-size; `own`: visits what a recipe has beside it.
template <class Visit, class Own>
void visit_batches(BatchSettings& b, Visit& visit, const char* size, Own&& own) {
  visit.group("Batches");
  visit("batch-size", b.size, "N", size);
  own();
  visit("accumulation", b.accumulation, "N", "batches that make one step");
  visit("epochs", b.epochs, "N", "passes over the data; 0: until max-steps");
  visit("max-steps", b.max_steps, "N", "end after so many steps, where the epochs are not over before; 0: no such end");
  visit("max-minutes", b.max_minutes, "MIN", "end after so long; --resume goes on from there. 0: no such end");
  visit("ring-depth", b.ring_depth, "N",
        "batches that wait on the device, or are on their way, while it steps; 0: 3, and more where that is faster");
}

/// Which settings of the optimiser a recipe has keys for: the usual ones, those with a warm-up in epochs, or all.
enum class OptimiserKeys { usual, by_epochs, all };

template <class Visit>
void visit_optimiser(OptimiserSettings& o, Visit& visit, OptimiserKeys keys = OptimiserKeys::usual) {
  const bool all = keys == OptimiserKeys::all;
  visit.group("Optimiser");
  visit("learning-rate", o.learning_rate, "RATE", "AdamW's highest learning rate");
  if (keys == OptimiserKeys::by_epochs)
    visit("warmup-epochs", o.warmup_epochs, "N",
          "in which the rate rises to it, or a tenth of all epochs if that is less");
  else
    visit("warmup-steps", o.warmup_steps, "N", "steps in which the learning rate rises from 0");
  visit("schedule", o.schedule, o.schedule.all(), "how the rate falls afterwards, until max-steps or epochs");
  if (all) {
    visit("schedule-steps", o.schedule_steps, "N",
          "steps in which the rate falls, where the training ends earlier or goes on; 0: all of its own");
    visit("cycles", o.cycles, "N", "cycles of schedule cosine; more than 1: with restarts");
  }
  visit("final-rate", o.final_rate, "SHARE", "share of the learning rate that is left at the end");
  visit("weight-decay", o.weight_decay, "X", "decoupled weight decay of matrices, not of biases and norms");
  if (all) {
    visit("beta1", o.beta1, "X", "AdamW's decay of the gradients' mean");
    visit("beta2", o.beta2, "X", "AdamW's decay of the squared gradients' mean");
    visit("epsilon", o.epsilon, "X", "AdamW's smallest divisor");
  }
  visit("clip", o.clip, "NORM", "gradients are scaled down to this norm; 0: never");
  visit("ema", o.ema, "DECAY", "keep a moving average of the weights, evaluate and export it; 0: none");
}

/// `seeded`: the help of the seed; `devices`: the names that the device takes. `behind`: visits what a recipe has
/// behind the setting of that key.
template <class Visit, class Behind>
void visit_arithmetic(ArithmeticSettings& a, Visit& visit, const char* seeded, const char* devices, Behind&& behind) {
  visit.group("Arithmetic");
  visit("device", a.device, devices, "where the network is; auto: the first GPU, else the processor");
  behind("device");
  visit("precision", a.precision, a.precision.all(), "type of matrix products; float16 scales the loss");
  behind("precision");
  visit("compute-threads", a.compute_threads, "N", "threads of the network; 0: one per core. Kept when resuming");
  visit("device-memory", a.device_memory, "MB",
        "most memory of the device for the training's tensors; a batch that needs more is split. 0: no limit");
  behind("device-memory");
  visit("seed", a.seed, "N", seeded);
}
template <class Visit>
void visit_arithmetic(ArithmeticSettings& a, Visit& visit, const char* seeded,
                      const char* devices = "auto|cpu|cuda:N") {
  visit_arithmetic(a, visit, seeded, devices, [](std::string_view) {});
}

template <class Visit>
void visit_run(RunSettings& r, Visit& visit) {
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
