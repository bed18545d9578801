#pragma once

#include "model/weights.h"
#include "model/whisper.h"

namespace tutti {

/// What a WhisperModel holds.
struct WhisperModel::Weights {
  WhisperDims dims{};
  at::Device device = at::kCPU;
  at::ScalarType dtype = at::kFloat;
  WhisperWeights net{};
};

}  // namespace tutti
