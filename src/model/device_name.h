#pragma once

#include <c10/core/Device.h>

#include <string>

#include "base/error.h"

namespace tutti {

/// The device of that name in this process: "cpu", "cuda" (the first), or "cuda:N" or "N" as CUDA counts. Loads the
/// CUDA half first, so torch finds it. Errors: Fault::usage where the name is none of these; Fault::missing where this
/// process does not see such a device. Thread-safe.
Result<at::Device> device_named(const std::string& name);

/// CUDA's number of a CUDA device; one without a number is the first.
inline int index_of(at::Device device) {
  return device.has_index() ? device.index() : 0;
}

}  // namespace tutti
