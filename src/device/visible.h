#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/gpu.h"

namespace tutti {

/// The GPUs a user lets programs see, in the user's order.
struct VisibleGpus {
  std::vector<Gpu> gpus;
  std::optional<std::string> problem;  ///< an entry that names nothing; it hides itself and all that follow, as in CUDA
};

/// Applies CUDA_VISIBLE_DEVICES as CUDA does under CUDA_DEVICE_ORDER=PCI_BUS_ID: entries are indices into `gpus` (which
/// are in PCI order) or UUIDs of GPUs or MIG slices, or unambiguous beginnings of them. Unset (nothing) shows all,
/// empty shows none. A slice is shown as a GPU of its own, under its UUID and with its memory, and a GPU in MIG mode as
/// all its slices: CUDA shows a process only one of them, but each of our workers is given its own.
VisibleGpus visible_gpus(std::span<const Gpu> gpus, std::optional<std::string_view> cuda_visible_devices);

/// The one GPU whose UUID begins with `prefix`, letters of either case; null where there is none or several.
const Gpu* find_by_uuid(std::span<const Gpu> gpus, std::string_view prefix);

}  // namespace tutti
