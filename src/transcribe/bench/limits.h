#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "transcribe/bench/trial.h"

namespace tutti {

/// What bounds a model on a device in one compute type; `tutti-engine limits` measures and prints it.
struct DeviceLimits {
  double flops = 0;           // a second, in a large product of matrices
  double bandwidth = 0;       // bytes of memory a second
  double window_flops = 0;    // encoder and cross-attention keys/values of a window
  double step_bytes = 0;      // weights a decoder step reads, once for all sequences that step together
  double sequence_bytes = 0;  // keys and values it reads for each of them
};

/// A name and a number a line. Fault::corrupt names what is missing.
Result<DeviceLimits> parse_limits(std::string_view text);

/// Starts the engine to measure; takes some seconds. Blocks.
Result<DeviceLimits> query_limits(const std::filesystem::path& model, const std::string& device,
                                const std::string& compute_type);

/// The least time the arithmetic allows: every window encoded at the full speed of matrix products, every decoder step
/// reading at the full speed of memory, `batch_size` sequences sharing each reading of the weights. What the other
/// parts cost is not in it, so nothing ever reaches it.
Seconds least_time(const DeviceLimits& limits, const BenchTrial& trial);

}  // namespace tutti
