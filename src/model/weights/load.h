#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "base/error.h"
#include "model/formats/checkpoint.h"
#include "model/weights/weights.h"

namespace tutti {

/// One stored tensor on the CPU: a view of the mapping if its type and address allow (the tensor then keeps the
/// checkpoint alive), a copy else; quantised ones with their scales multiplied out, in float32.
at::Tensor stored_values(const StoredTensor& stored, const std::shared_ptr<const Checkpoint>& owner);

/// The network's tensors as they are stored: where aligned they stay where they are, mapped and shared with every other
/// process that maps the file (the tensor keeps the checkpoint alive).
Result<WhisperWeights> bind_weights(const std::shared_ptr<const Checkpoint>& checkpoint);

/// Random float32 weights of that shape on the CPU, by torch's generator, scaled so that activations stay finite
/// through any number of layers.
WhisperWeights random_weights(const WhisperShape& shape);

}  // namespace tutti
