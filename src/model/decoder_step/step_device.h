#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <memory>
#include <string>
#include <string_view>

#include "model/decoder_step/kernels.h"
#include "model/decoder_step/step_recorder.h"

namespace tutti {

/// Kernels and where to enqueue them now.
struct KernelsNow {
  const StepKernels* kernels = nullptr;
  Stream stream = nullptr;
};

/// The kernels of a CPU, or of the GPU of that index with its current stream. Throws std::runtime_error where a GPU has
/// none.
KernelsNow kernels_of(at::Device device);

/// Whether static steps have kept their promises on a device so far.
struct StepTrust {
  bool kernels = true;    // their logits were torch's
  bool sharing = true;    // so they were where rows share a window
  bool recording = true;  // they could be recorded
  double distance = 0;    // the largest error that a bucket's first use had against torch's logits (step_distance)
  std::string reason{};   // why either was turned off
};

/// What static steps run with on a device. Copies share their trust.
struct StepDevice {
  std::int32_t processors = 1;               // that want a block of their own
  std::int32_t beams = 1;                    // rows that see the same window, as a rule; from two on they read it once
  std::shared_ptr<StepRecorder> recorder{};  // null: nothing is recorded, each step is enqueued again
  std::shared_ptr<StepTrust> trust = std::make_shared<StepTrust>();

  /// Whether steps are made in a slower way than the device was given for.
  bool fell_back() const { return !trust->kernels || !trust->sharing || (recorder && !trust->recording); }
};

/// The same for searches of so many beams. With TUTTI_STEP=apart none of them shares its window.
StepDevice with_beams(StepDevice device, std::int32_t beams);

/// The step device of a GPU. record: CUDA graphs.
StepDevice gpu_step_device(int index, bool record);

/// TUTTI_STEP: how decoder steps are to run, should a kernel take the worker down; empty where it is not set.
std::string_view way_of_steps();

/// Whether TUTTI_STEP=eager leaves steps and token selection to torch's operators.
bool excludes_step_kernels();

/// Throws std::invalid_argument for a type that no step computes in.
Number number_of(at::ScalarType type);

}  // namespace tutti
