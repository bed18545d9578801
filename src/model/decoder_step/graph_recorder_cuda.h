#pragma once

#include <memory>

#include "model/decoder_step/step_recorder.h"
#include "model/gpu.h"

namespace tutti {

/// CUDA graphs on a device, all in one pool of memory: they are replayed one after the other. Captured thread-locally
/// on a stream of their own, so that another thread's calls cannot spoil a capture. A graph's kernels keep the urgency
/// of that stream wherever it is replayed. In libtutti-cuda.so alone.
std::shared_ptr<StepRecorder> make_graph_recorder(int index, gpu::Urgency urgency);

}  // namespace tutti
