#pragma once

#include "model/decoder_step/kernels.h"

namespace tutti {

/// On a GPU; in libtutti-cuda.so alone. Throws std::runtime_error where a kernel could not be enqueued.
const StepKernels& device_step_kernels();

}  // namespace tutti
