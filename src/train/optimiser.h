#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "recipe/training_recipe.h"
#include "train/parameter.h"

namespace tutti {

/// What is known of a training's length before it begins. Pure.
///
/// Limits on the audio of a batch and cutting into pieces make more steps of an epoch than full batches of whole
/// recordings would. How many more shows in what the steps so far have used: a number that is the same however often a
/// training was interrupted.
struct TrainingLength {
  std::int64_t least = 0;       // steps of all epochs if batches were full; 0: epochs have no end
  std::int64_t recordings = 0;  // recordings of all epochs and processes
  std::int64_t most = 0;        // steps after which it ends whatever the epochs; 0: no such end

  /// Steps of the whole training, as `steps` of them that have used up so many recordings let expect; 0: not known.
  std::int64_t expected(std::int64_t steps, std::int64_t used) const;
};

/// How the learning rate moves. Pure; steps count from 1.
struct RateSchedule {
  using Shape = RateShape;
  Shape shape = Shape::linear;
  double peak = 0;
  std::int64_t warmup = 0;  // steps until the peak
  std::int64_t steps = 0;   // steps of the whole training; 0: unknown, and the rate stays at the peak
  std::int32_t cycles = 1;  // cycles of the cosine
  double final_share = 0;   // share of the peak that is left at the end

  /// During warm-up peak * step / warmup; then with p, the share of the remaining steps that is over before this one:
  /// linear peak * (1 - p), cosine peak * (1 + cos(pi * (p * cycles mod 1))) / 2, above the final share.
  double at(std::int64_t step) const;
};

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // decoupled; of matrices, not of biases and norms
};

/// AdamW (Loshchilov and Hutter 2019) in torch's fused kernel: one pass over each tensor, bias-corrected. One thread.
class AdamW {
 public:
  /// For the tensors of `parameters` that require a gradient.
  AdamW(std::span<const Parameter> parameters, AdamWOptions options);

  /// One step with the gradients that are there; a tensor without one stays as it is.
  void step(double rate);
  void clear_gradients();

  /// The gradients that are there.
  std::vector<at::Tensor> gradients() const;
  /// Those of all tensors; zeros are put where there was none.
  std::vector<at::Tensor> whole_gradients();

  /// What a checkpoint keeps: "NAME.mean", "NAME.square" and "NAME.steps" for every tensor; the tensors are the
  /// optimiser's own, so that copying into them restores it.
  std::vector<Parameter> state() const;

 private:
  struct Slot {
    Parameter parameter;
    at::Tensor mean;    // running mean of gradients
    at::Tensor square;  // mean of their squares
    at::Tensor steps;   // [] float32
  };
  void step_slots(double rate, bool decayed);

  std::vector<Slot> slots_;
  AdamWOptions options_;
};

/// Scales gradients down to `norm` together, as torch's clip_grad_norm_ does; 0: leaves them. Returns the norm they
/// had:
/// [] float32, on their device, not waited for.
at::Tensor clip_gradients(std::span<const at::Tensor> gradients, double norm);

}  // namespace tutti
