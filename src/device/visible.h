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
/// are in PCI order) or UUIDs or unambiguous beginnings of them. Unset (nothing) shows all, empty shows none.
VisibleGpus visible_gpus(std::span<const Gpu> gpus, std::optional<std::string_view> cuda_visible_devices);

/// The one GPU whose UUID begins with `prefix`, letters of either case; null where there is none or several.
const Gpu* find_by_uuid(std::span<const Gpu> gpus, std::string_view prefix);

}  // namespace tutti
