#pragma once

#include "hub/memory_plan.h"
#include "model/compute_type.h"
#include "model/formats/dims.h"

namespace tutti {

/// What a Whisper of these dimensions has to do at least, on any hardware. Counted in multiplications and additions
/// (FLOP) and in numbers read; bytes follow from the compute type.
struct WhisperWork {
  double window_flops = 0;      // encoder and cross-attention keys/values of one window
  double token_weights = 0;     // weights a decoder step reads, once for all sequences that step together
  double sequence_numbers = 0;  // cross-attention keys and values it reads for each of them
};

/// With d the state, n the positions, L layers, V tokens: two convolutions; L * (24 n d^2 + 4 n^2 d) for the encoder;
/// 4 n d^2 a decoder layer for keys and values; 14 d^2 a decoder layer and V d for the weights of a step.
WhisperWork work_of(const WhisperDims& dims);

/// Bytes of one number of each kind in a network of that type on that device.
NumberSizes sizes_on(at::Device device, ComputeType type);

/// What a decoder step reads at least, in bytes.
struct StepBytes {
  double weights = 0;  // once for all sequences that step together
  double window = 0;   // for each of them: keys and values of its window
  double token = 0;    // likewise: keys and values of a token it decoded before
};

StepBytes step_bytes(const WhisperDims& dims, at::Device device, ComputeType type);

}  // namespace tutti
