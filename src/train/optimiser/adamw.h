#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "train/network/parameters.h"

namespace tutti {

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
    at::Tensor mean;    // of gradients
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
