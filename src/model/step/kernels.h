#pragma once

#include "model/step/jobs.h"

namespace tutti {

/// Where kernels are enqueued: a cudaStream_t; nothing on the host.
using Stream = void*;

/// The kernels of a decoder step on one kind of device. They enqueue only; on the host they are done on return. The
/// device of the memory is the current one.
struct StepKernels {
  void (*attend)(const AttendJob&, Stream);
  void (*append)(const AppendJob&, Stream);
  void (*embed)(const EmbedJob&, Stream);
  void (*norm)(const NormJob&, Stream);
  void (*finish)(const FinishJob&, Stream);
  void (*pack)(const PackJob&, Stream);
};

/// On the host, by plain loops: slow, for tests and as the kernels' definition.
const StepKernels& host_step_kernels();

}  // namespace tutti
