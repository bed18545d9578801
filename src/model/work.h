#pragma once

#include "model/stored/dims.h"

namespace tutti {

/// What a Whisper of these dimensions has to do at least, whoever computes it. Counted in multiplications and additions
/// (FLOP) and in numbers read; bytes follow from the compute type.
struct WhisperWork {
  double window_flops = 0;      // encoder and cross-attention keys/values of one window
  double token_weights = 0;     // weights a decoder step reads, once for all sequences that step together
  double sequence_numbers = 0;  // cross-attention keys and values it reads for each of them
};

/// With d the state, n the positions, L layers, V tokens: two convolutions; L * (24 n d^2 + 4 n^2 d) for the encoder;
/// 4 n d^2 a decoder layer for keys and values; 14 d^2 a decoder layer and V d for the weights of a step.
WhisperWork work_of(const WhisperDims& dims);

}  // namespace tutti
