#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"

namespace tutti {

/// A device as a list names it, in the order of the list.
struct ListedDevice {
  DeviceSpec spec{};
  std::string name{};  ///< what people call it; empty: as it is written in the list
};

/// The devices in a comma-separated list of `auto`, `cuda:N`, `GPU-uuid`, `cpu`, `cpu:N`,
/// `emulated:30x:12GB[@GPU-uuid]` and names of devices files (*.toml). Fault::usage names the entry and the nearest
/// right form.
Result<std::vector<ListedDevice>> parse_device_list(std::string_view list);

/// The devices files (*.toml) that a list names.
std::vector<std::string> device_files(std::string_view list);

/// A devices file:
///
///     time = 0.1                 # real seconds per second of an emulated GPU; for all of them
///     [[device]]
///     use = "emulated:30x:12GB"  # or any other device of a list
///     name = "left"              # optional, as all that follow; they need an emulated GPU
///     count = 4                  # that many of the kind
///     jitter = 0.1               # a window's time varies by up to this share either way
///     warm-up = 2.0              # seconds until a worker is ready
///     slots = 8                  # windows in work at most
///     failures = ["die@30", "lost@60+30"]
///
/// Fault::missing or ::usage names file, entry and key.
Result<std::vector<ListedDevice>> read_device_file(const std::string& path);

/// A device to be used.
struct ChosenDevice {
  std::string
      id;  ///< unique in the run: a GPU's UUID, "cpu:0", "emulated:30x:12GB", "emulated:30x:12GB#2", or its name
  std::string label{};  ///< as it was written, for people: "cuda:0" where the id is a UUID
  ResolvedDevice device{};
};

/// Finds the listed devices on the machine; `auto` is every GPU that can be used, else the CPU. Fault::usage when two
/// entries name one device; Fault::missing names what is there instead.
Result<std::vector<ChosenDevice>> choose_devices(std::span<const ListedDevice> list, const MachineDevices& machine);

/// The id of the device with that label; what is no label is taken for an id.
std::string device_id(std::span<const ChosenDevice> devices, const std::string& label_or_id);

}  // namespace tutti
