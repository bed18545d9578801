#pragma once

#include "model/compute_type.h"
#include "model/weights/weights.h"

namespace tutti {

/// Brings a network's weights, as they were read, into the form that `type` is computed in on `device`: layers that
/// share their input are joined, then packed for the CPU's kernels, scaled to int8 or converted. Only here is that
/// decided. What was read is released as soon as it is no longer needed; the token embedding stays as it was read where
/// only single rows of it are looked up.
void prepare(WhisperWeights& weights, ComputeType type, at::Device device);

}  // namespace tutti
