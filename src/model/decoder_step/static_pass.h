#pragma once

#include <cstdint>

#include "model/decoder_step/step_buffers.h"
#include "model/decoder_step/step_device.h"
#include "model/decoder_step/step_inputs.h"
#include "model/ops.h"
#include "model/weights.h"
#include "model/whisper.h"

namespace tutti {

/// Where a step of one bucket happens.
struct StepContext {
  const WhisperDims* dims = nullptr;
  const SelfKv* cache = nullptr;
  const StepBuffers* buffers = nullptr;
  StepInputs inputs{};
  std::int32_t splits = 1;    // splits of cross-attention
  bool shared = false;        // its rows that see the same window read it once
  bool byte_windows = false;  // windows' keys and values in eight bits
  KernelsNow now{};
};

/// One step through the decoder of `net`, over what is in the context's inputs; leaves `logits`. Enqueues only,
/// allocates nothing of its own.
void pass_through(const WhisperWeights& net, const StepContext& context);

}  // namespace tutti
