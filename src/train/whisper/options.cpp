#include "train/whisper/options.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "train/optimiser_step/card_precision.h"
#include "train/optimiser_step/step_memory.h"
#include "train/whisper/feed.h"

namespace tutti {
namespace {

RateSchedule schedule_of(const WhisperRecipe& r) {
  const auto shape = r.schedule == "cosine"   ? RateSchedule::Shape::cosine
                     : r.schedule == "linear" ? RateSchedule::Shape::linear
                                              : RateSchedule::Shape::constant;
  return {.shape = shape,
          .peak = r.learning_rate,
          .warmup = r.warmup_steps,
          .steps = r.schedule_steps,
          .cycles = r.cycles,
          .final_share = r.final_rate};
}

StepPrecision precision_of(const WhisperRecipe& r) {
  if (r.precision == "tf32") return StepPrecision::tf32;
  if (r.precision == "bfloat16") return StepPrecision::bfloat16;
  return r.precision == "float16" ? StepPrecision::float16 : StepPrecision::float32;
}

/// As many batches as the recipe has memory for, each as big as its limits allow.
BatchRingOptions ring_of(const WhisperRecipe& r, const WhisperDims& dims) {
  double seconds = r.batch_size * window_of(dims).count();
  if (r.batch_seconds > 0) seconds = std::min(seconds, std::max(r.batch_seconds, window_of(dims).count()));
  const double bytes = seconds * kFramesPerSecond * dims.n_mels * sizeof(float);
  const auto fitting = static_cast<int>(std::min(1000.0, r.ring_megabytes * 1e6 / bytes));
  return {.depth = r.ring_depth, .most_depth = std::max(r.ring_depth, fitting)};
}

}  // namespace

TrainStep step_of(WhisperTask& task, const WhisperRecipe& r, Peers* peers) {
  if (task.device().is_cpu()) keep_step_memory();
  return TrainStep(task, {.beta1 = r.beta1, .beta2 = r.beta2, .epsilon = r.epsilon, .weight_decay = r.weight_decay},
                   {.precision = precision_of(r), .clip = r.clip, .ema = r.ema, .seed = r.seed}, peers);
}

void tell_of_precision(at::Device device, const WhisperRecipe& r) {
  if (!device.is_cuda()) return;
  const auto card = gpu::facts(index_of(device));
  const auto unsupported = card ? unsupported_reason(precision_of(r), card->capability) : std::string();
  if (!unsupported.empty()) log(Level::warning, "precision " + r.precision + ": " + unsupported);
}

TrainerOptions options_of(const WhisperRecipe& r, const WhisperDims& dims) {
  return {.schedule = schedule_of(r),
          .max_steps = r.max_steps,
          .accumulation = r.accumulation,
          .save_steps = r.save_steps,
          .eval_steps = r.eval_steps,
          .keep = r.keep,
          .patience = r.patience,
          .bad_step_limit = r.bad_step_limit,
          .refused = {.count = r.bad_samples, .share = r.bad_share},
          .max_time = Seconds(60 * r.max_minutes),
          .export_type = r.export_type,
          .ring = ring_of(r, dims)};
}

}  // namespace tutti
