#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "model/formats/checkpoint.h"
#include "model/weights.h"
#include "train/parameter.h"

namespace tutti {

/// A Whisper network as it is trained: every weight in float32 on one device, sharing nothing with a file.
struct WhisperParameters {
  WhisperShape shape{};
  WhisperWeights weights{};      // the tensors of `all`, by their index
  std::vector<Parameter> all{};  // in the order of the network
};

/// Between the logarithms of two neighbouring frequencies of `sinusoids`: sinusoid i turns by exp(-step * i) a
/// position.
double sinusoid_step(std::int64_t width);

/// Hugging Face's sinusoids: [positions, width] float32. Part of the encoder's input, never trained.
at::Tensor sinusoids(std::int64_t positions, std::int64_t width);

/// A new network. Matrices are normal with the deviation 1 / sqrt(3 fan_in), embeddings with 0.02, biases 0; the same
/// seed gives the same weights.
WhisperParameters new_parameters(const WhisperShape& shape, std::uint64_t seed, at::Device device);

/// Copies of a stored model's weights in float32.
Result<WhisperParameters> stored_parameters(const std::shared_ptr<const Checkpoint>& checkpoint, at::Device device);

/// Marks what is trained: all but the encoder's positions; with `freeze_encoder`, the decoder alone.
void mark_trained(WhisperParameters& parameters, bool freeze_encoder);

}  // namespace tutti
