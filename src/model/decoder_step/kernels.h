#pragma once

#include <stdexcept>
#include <string>

#include "model/decoder_step/jobs.h"

namespace tutti {

/// Where kernels are enqueued: a cudaStream_t; nothing on the host.
using Stream = void*;

/// A kernel that could not be launched.
class KernelError : public std::runtime_error {
 public:
  /// code: a cudaError_t.
  KernelError(int code, const std::string& what)
      : std::runtime_error("CUDA error: " + what + (is_missing_code(code) ? kHowToBuild : "")), code_(code) {}

  /// This build has no code for the GPU; the GPU itself is intact.
  bool is_missing_code() const { return is_missing_code(code_); }
  /// The GPU is intact; with less at once it may go.
  bool is_out_of_memory() const { return code_ == kOutOfMemory; }

  static constexpr int kOutOfMemory = 2;  // cudaErrorMemoryAllocation

 private:
  /// The runtime returns either for a kernel that was not compiled for the GPU's architecture.
  static bool is_missing_code(int code) {
    constexpr int kInvalidDeviceFunction = 98, kNoKernelImageForDevice = 209;
    return code == kInvalidDeviceFunction || code == kNoKernelImageForDevice;
  }
  static constexpr const char* kHowToBuild =
      "; this build has no kernels for this GPU: build it there, or with -DCMAKE_CUDA_ARCHITECTURES=N, its compute "
      "capability (75, 80, 86, 89, 90, ...)";
  int code_;
};

/// The kernels of a decoder step on one kind of device. They enqueue only; on the host they are done on return. The
/// device of the memory is the current one. They throw KernelError.
struct StepKernels {
  void (*attend)(const AttendJob&, Stream);
  void (*append)(const AppendJob&, Stream);
  void (*embed)(const EmbedJob&, Stream);
  void (*norm)(const NormJob&, Stream);
  void (*finish)(const FinishJob&, Stream);
  void (*pack)(const PackJob&, Stream);
  void (*select)(const SelectJob&, Stream);  ///< behind a step
  void (*align)(const AlignJob&, Stream);    ///< no part of a step: a voice's training has it
};

/// On the host, by plain loops: slow, for tests and as the kernels' definition.
const StepKernels& host_step_kernels();

}  // namespace tutti
