#include <algorithm>
#include <tuple>

#include "device/nvml/query.h"
#include "device/nvml/readings.h"

namespace tutti {
namespace {

/// Where a GPU sits; orders as CUDA_DEVICE_ORDER=PCI_BUS_ID does.
using PciAddress = std::tuple<unsigned, unsigned, unsigned>;

struct Found {
  PciAddress address;
  NvmlCard card;
  std::optional<std::string> loss{};
};

Found describe(const NvmlLibrary& library, nvml::Device device, unsigned index) {
  NvmlQuery query(library, device);
  // Without its address a GPU keeps the driver's order, behind those that have one.
  Found found{.address = {~0u, index, 0}, .card = {.device = device}};
  Gpu& gpu = found.card.gpu;
  gpu.uuid = query.text(library.uuid);
  gpu.name = query.text(library.name);
  if (auto pci = query.value(library.pci_info)) {
    pci->bus_id[sizeof pci->bus_id - 1] = '\0';
    gpu.pci_bus_id = pci->bus_id;
    found.address = {pci->domain, pci->bus, pci->device};
  }
  if (const auto memory = query.value(library.memory)) {
    gpu.memory_total = Bytes{static_cast<std::int64_t>(memory->total)};
    gpu.memory_used = Bytes{static_cast<std::int64_t>(memory->used)};
  }
  if (ComputeCapability capability; query.call(library.capability, &capability.major, &capability.minor))
    gpu.capability = capability;
  unsigned now = 0, pending = 0;
  if (query.call(library.mig_mode, &now, &pending)) gpu.mig = now == 1;
  if (gpu.mig.value_or(false)) gpu.mig_devices = mig_devices(library, device);
  found.loss = query.loss();
  return found;
}

}  // namespace

std::vector<MigDevice> mig_devices(const NvmlLibrary& library, nvml::Device device) {
  std::vector<MigDevice> slices;
  NvmlQuery query(library, device);
  const unsigned most = query.value(library.mig_count).value_or(0);
  for (unsigned i = 0; i < most; ++i) {
    const auto handle = query.value(library.mig_by_index, i);
    if (!handle) continue;  // slots may be empty
    NvmlQuery slice(library, *handle);
    MigDevice found{.uuid = slice.text(library.uuid).value_or(""), .name = slice.text(library.name).value_or("")};
    if (found.uuid.empty()) continue;
    if (const auto id = slice.value(library.gpu_instance)) found.gpu_instance = static_cast<int>(*id);
    if (const auto id = slice.value(library.compute_instance)) found.compute_instance = static_cast<int>(*id);
    if (const auto memory = slice.value(library.memory)) {
      found.memory_total = Bytes{static_cast<std::int64_t>(memory->total)};
      found.memory_used = Bytes{static_cast<std::int64_t>(memory->used)};
    }
    slices.push_back(std::move(found));
  }
  return slices;
}

Result<NvmlListing> list_cards(const NvmlLibrary& library) {
  if (!library.device_count || !library.device_by_index)
    return fail(Fault::unsupported, "this NVIDIA driver cannot list its GPUs", "Install a newer driver");
  unsigned count = 0;
  if (const auto code = library.device_count(&count); code != nvml::kSuccess)
    return fail(Fault::device, "the NVIDIA driver cannot list its GPUs: " + library.reason(code));
  NvmlListing listing;
  std::vector<Found> found;
  const auto silent = [&](unsigned index, const std::string& why) {
    listing.problems.push_back("GPU " + std::to_string(index) + " does not answer: " + why);
  };
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    if (const auto code = library.device_by_index(i, &device); code != nvml::kSuccess) {
      silent(i, library.reason(code));
      continue;
    }
    auto one = describe(library, device, i);
    // Lost during the query; where it still could give its UUID, its values will show the loss.
    if (one.loss && !one.card.gpu.uuid)
      silent(i, *one.loss);
    else
      found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.address < b.address; });
  for (auto& each : found) {
    each.card.gpu.index = static_cast<int>(listing.cards.size());
    listing.cards.push_back(std::move(each.card));
  }
  return listing;
}

}  // namespace tutti
