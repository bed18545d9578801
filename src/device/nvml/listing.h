#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "device/gpu.h"
#include "device/nvml/library.h"

namespace tutti {

/// A GPU of the driver's list; the handle is good as long as the library it came from.
struct NvmlCard {
  nvml::Device device = nullptr;
  Gpu gpu{};
};

struct NvmlListing {
  std::vector<NvmlCard> cards;        ///< in PCI order
  std::vector<std::string> problems;  ///< GPUs that are there but do not answer
};

/// Queries which GPUs there are; some milliseconds per GPU.
Result<NvmlListing> list_cards(const NvmlLibrary& library);

/// The slices of a GPU in MIG mode; none where it is not.
std::vector<MigDevice> mig_devices(const NvmlLibrary& library, nvml::Device device);

}  // namespace tutti
