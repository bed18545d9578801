#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "base/error.h"
#include "model/stored/checkpoint.h"
#include "model/weights.h"

namespace tutti {

/// The network's tensors on `device` in `dtype`. On the CPU a tensor that is stored in `dtype` stays where it is,
/// mapped and shared with every other process that maps the file (the tensor keeps the checkpoint alive); all others
/// are converted copies.
Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint, at::Device device,
                                    at::ScalarType dtype);

/// Random weights of that shape, scaled so that activations stay finite through any number of layers.
WhisperWeights random_weights(const WhisperShape& shape, at::Device device, at::ScalarType dtype);

}  // namespace tutti
