#pragma once

#include <c10/core/Device.h>

#include <string>

#include "base/error.h"
#include "model/compute_type.h"

namespace tutti {

/// What decides which compute types a device has.
struct DeviceAbility {
  bool cuda = false;
  int capability = 0;        // of a GPU: 75 for Turing
  bool own_kernels = false;  // of a CPU
};

/// `capability` stays 0 where the card does not answer.
DeviceAbility ability_of(at::Device device);

/// A compute type, and why it is not the requested one; empty if it is.
struct ComputeChoice {
  ComputeType type = ComputeType::float32;
  std::string why{};
};

/// The type of that name, or the nearest that the device has. An error for a name that is none.
Result<ComputeChoice> choose_compute_type(const std::string& name, const DeviceAbility& device);

}  // namespace tutti
