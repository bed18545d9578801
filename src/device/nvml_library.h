#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// The part of NVML's C interface that is used here. The names, numbers and layouts are the library's own and fixed by
/// its binary interface (NVML API reference, driver 580).
namespace nvml {

using Device = struct Opaque*;
using Code = int;
inline constexpr Code kSuccess = 0;

struct Memory {
  unsigned long long total, free, used;
};

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

}  // namespace nvml

/// The loaded library; shut down and closed when it goes. Functions it lacks are null.
struct NvmlLibrary {
  std::unique_ptr<void, FreeWith<::dlclose>> handle;
  nvml::Code (*init)() = nullptr;
  nvml::Code (*shutdown)() = nullptr;
  const char* (*error_string)(nvml::Code) = nullptr;
  nvml::Code (*driver_version)(char*, unsigned) = nullptr;
  nvml::Code (*cuda_version)(int*) = nullptr;
  nvml::Code (*device_count)(unsigned*) = nullptr;
  nvml::Code (*device_by_index)(unsigned, nvml::Device*) = nullptr;
  nvml::Code (*uuid)(nvml::Device, char*, unsigned) = nullptr;
  nvml::Code (*name)(nvml::Device, char*, unsigned) = nullptr;
  nvml::Code (*pci_info)(nvml::Device, nvml::PciInfo*) = nullptr;
  nvml::Code (*memory)(nvml::Device, nvml::Memory*) = nullptr;
  nvml::Code (*capability)(nvml::Device, int*, int*) = nullptr;
  bool is_running = false;  // init succeeded

  NvmlLibrary() = default;
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  static Result<std::shared_ptr<const NvmlLibrary>> load(const std::string& file);
  /// "driver not loaded (9)"
  std::string reason(nvml::Code code) const;
};

}  // namespace tutti
