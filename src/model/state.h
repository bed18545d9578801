#pragma once

#include "model/compute_type.h"
#include "model/weights/weights.h"
#include "model/whisper.h"

namespace tutti {

/// What a WhisperModel holds.
struct WhisperModel::Weights {
  WhisperDims dims{};
  at::Device device = at::kCPU;
  ComputeType type = ComputeType::float32;
  Layout layout{};
  WhisperWeights net{};
};

}  // namespace tutti
