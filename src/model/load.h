#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "base/error.h"
#include "model/stored/checkpoint.h"
#include "model/weights.h"

namespace tutti {

/// The network's tensors as they are stored: where aligned they stay where they are, mapped and shared with every other
/// process that maps the file (the tensor keeps the checkpoint alive).
Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint);

/// Random float32 weights of that shape, scaled so that activations stay finite through any number of layers.
WhisperWeights random_weights(const WhisperShape& shape);

}  // namespace tutti
