#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <functional>

#include "base/units.h"

namespace tutti {

/// Calls a second, after one call to warm up; at least three calls, and as long as `least`. `call` waits for the
/// device.
double rate_of(Seconds least, const std::function<void()>& call);

/// What this device was seen to do.
struct Peaks {
  double flops = 0;      // FLOP/s of a large product of matrices
  double bandwidth = 0;  // bytes/s, read and written, of a large copy
};

/// type: of the matrices.
Peaks measure_peaks(at::Device device, at::ScalarType type);

}  // namespace tutti
