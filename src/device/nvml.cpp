#include "device/nvml.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "device/nvml_library.h"

namespace tutti {
namespace {

/// A text that one of NVML's functions writes into a buffer.
std::optional<std::string> text_of(auto* function, auto... before) {
  char buffer[96] = {};  // NVML's longest
  if (!function || function(before..., buffer, sizeof buffer - 1) != nvml::kSuccess) return std::nullopt;
  return std::string(buffer);
}

/// Where a GPU sits; orders as CUDA_DEVICE_ORDER=PCI_BUS_ID does.
using Place = std::tuple<unsigned, unsigned, unsigned>;

struct Found {
  Place place;
  Gpu gpu;
};

Found describe(const NvmlLibrary& lib, nvml::Device device, unsigned index) {
  // Without its place a GPU keeps the driver's order, behind those that have one.
  Found found{.place = {~0u, index, 0}, .gpu = {}};
  Gpu& gpu = found.gpu;
  gpu.uuid = text_of(lib.uuid, device);
  gpu.name = text_of(lib.name, device);
  if (nvml::PciInfo pci{}; lib.pci_info && lib.pci_info(device, &pci) == nvml::kSuccess) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    gpu.pci_bus_id = pci.bus_id;
    found.place = {pci.domain, pci.bus, pci.device};
  }
  if (nvml::Memory memory{}; lib.memory && lib.memory(device, &memory) == nvml::kSuccess) {
    gpu.memory_total = Bytes{static_cast<std::int64_t>(memory.total)};
    gpu.memory_used = Bytes{static_cast<std::int64_t>(memory.used)};
  }
  if (ComputeCapability found_capability;
      lib.capability && lib.capability(device, &found_capability.major, &found_capability.minor) == nvml::kSuccess)
    gpu.capability = found_capability;
  return found;
}

}  // namespace

Result<Nvml> Nvml::open() {
  const char* named = std::getenv("TUTTI_NVML");
  return NvmlLibrary::load(named && *named ? named : "libnvidia-ml.so.1").map([](auto library) {
    return Nvml(std::move(library));
  });
}

std::optional<std::string> Nvml::driver_version() const {
  return text_of(library_->driver_version);
}

std::optional<std::string> Nvml::cuda_version() const {
  int version = 0;  // 1000 * major + 10 * minor
  if (!library_->cuda_version || library_->cuda_version(&version) != nvml::kSuccess) return std::nullopt;
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<Nvml::Listing> Nvml::list() const {
  const NvmlLibrary& lib = *library_;
  if (!lib.device_count || !lib.device_by_index)
    return fail(Fault::unsupported, "this NVIDIA driver cannot list its GPUs", "Install a newer driver");
  unsigned count = 0;
  if (const auto code = lib.device_count(&count); code != nvml::kSuccess)
    return fail(Fault::device, "the NVIDIA driver cannot list its GPUs: " + lib.reason(code));
  Listing listing;
  std::vector<Found> found;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    if (const auto code = lib.device_by_index(i, &device); code == nvml::kSuccess)
      found.push_back(describe(lib, device, i));
    else
      listing.problems.push_back("GPU " + std::to_string(i) + " does not answer: " + lib.reason(code));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
  for (auto& each : found) {
    each.gpu.index = static_cast<int>(listing.gpus.size());
    listing.gpus.push_back(std::move(each.gpu));
  }
  return listing;
}

}  // namespace tutti
