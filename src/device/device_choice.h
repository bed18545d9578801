#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

enum class DeviceKind { cpu, cuda };

/// One device to run on.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::cpu;
  std::string name{};  // as people named it: "cpu", "cuda:0"
  std::string uuid{};  // of a GPU
};

Result<DeviceChoice> choose_device(std::string_view wanted);

}  // namespace tutti
