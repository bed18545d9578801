#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <span>
#include <string>

#include "base/error.h"

namespace tutti {

/// How fast a device is at the two things a Whisper consists of, measured by running them.
struct DevicePeak {
  double flops = 0;      // a second, in a large product of matrices: the fastest way there is for the compute type
  double bandwidth = 0;  // bytes a second, reading memory
};

/// `compute_type` as LoadModel names it. Takes about a second. Fault::unsupported for a type that there is not.
Result<DevicePeak> measure_peak(c10::Device device, const std::string& compute_type);

/// `tutti-engine limits --model PATH --device cpu|cuda:N --compute-type T --threads N`: prints what bounds that model
/// there, a name and a number a line, bytes already those of the compute type. No threads, or 0: one per core. Returns
/// the exit code.
int limits_command(std::span<char*> arguments);

}  // namespace tutti
