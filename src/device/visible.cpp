#include "device/visible.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "base/strings.h"

namespace tutti {
namespace {

bool begins_with(std::string_view text, std::string_view prefix) {
  return ascii_lower(text).starts_with(ascii_lower(prefix));
}

/// A slice as a GPU of its own, as CUDA shows it.
Gpu slice_as_gpu(const Gpu& whole, const MigDevice& slice) {
  Gpu gpu = whole;
  gpu.uuid = slice.uuid;
  gpu.name = slice.name.empty() ? whole.name.value_or("GPU") + " MIG" : slice.name;
  gpu.memory_total = slice.memory_total;
  gpu.memory_used = slice.memory_used;
  gpu.mig_devices.clear();
  return gpu;
}

std::optional<Gpu> find_slice(std::span<const Gpu> gpus, std::string_view prefix) {
  std::optional<Gpu> found;
  for (const auto& gpu : gpus)
    for (const auto& slice : gpu.mig_devices) {
      if (!begins_with(slice.uuid, prefix)) continue;
      if (slice.uuid.size() == prefix.size()) return slice_as_gpu(gpu, slice);
      if (found) return std::nullopt;
      found = slice_as_gpu(gpu, slice);
    }
  return found;
}

/// A GPU in MIG mode is its slices: each of our processes sees one of them, by UUID.
std::vector<Gpu> devices_of(const Gpu& gpu) {
  if (!gpu.mig.value_or(false) || gpu.mig_devices.empty()) return {gpu};
  std::vector<Gpu> slices;
  for (const auto& slice : gpu.mig_devices) slices.push_back(slice_as_gpu(gpu, slice));
  return slices;
}

/// The devices that an entry of CUDA_VISIBLE_DEVICES names; none where it names nothing.
std::vector<Gpu> find_entry(std::span<const Gpu> gpus, std::string_view entry) {
  if (begins_with(entry, "MIG-")) {
    const auto slice = find_slice(gpus, entry);
    return slice ? std::vector{*slice} : std::vector<Gpu>();
  }
  const Gpu* found = nullptr;
  std::size_t index = 0;
  if (begins_with(entry, "GPU-"))
    found = find_by_uuid(gpus, entry);
  else if (const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
           error == std::errc() && end == entry.data() + entry.size() && index < gpus.size())
    found = &gpus[index];
  return found ? devices_of(*found) : std::vector<Gpu>();
}

void append(std::vector<Gpu>& to, std::vector<Gpu> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

bool has_one_of(const std::vector<Gpu>& seen, const std::vector<Gpu>& more) {
  return std::any_of(seen.begin(), seen.end(), [&](const Gpu& a) {
    return std::any_of(more.begin(), more.end(), [&](const Gpu& b) { return a.index == b.index && a.uuid == b.uuid; });
  });
}

}  // namespace

std::optional<std::string> cuda_visible_devices() {
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  return named ? std::optional<std::string>(named) : std::nullopt;
}

const Gpu* find_by_uuid(std::span<const Gpu> gpus, std::string_view prefix) {
  const Gpu* found = nullptr;
  for (const auto& gpu : gpus) {
    if (!gpu.uuid || !begins_with(*gpu.uuid, prefix)) continue;
    if (gpu.uuid->size() == prefix.size()) return &gpu;
    if (found) return nullptr;
    found = &gpu;
  }
  return found;
}

VisibleGpus visible_gpus(std::span<const Gpu> gpus, std::optional<std::string_view> cuda_visible_devices) {
  VisibleGpus visible;
  if (!cuda_visible_devices) {
    for (const auto& gpu : gpus) append(visible.gpus, devices_of(gpu));
    return visible;
  }
  std::string_view rest = *cuda_visible_devices;
  while (!trimmed(rest).empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const auto entry = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto found = find_entry(gpus, entry);
    const bool is_repeated = has_one_of(visible.gpus, found);
    if (found.empty() || is_repeated) {
      const char* why = is_repeated ? "' names a GPU twice" : "' names no GPU of this machine";
      visible.problem = "CUDA_VISIBLE_DEVICES=" + std::string(*cuda_visible_devices) + ": '" + std::string(entry) +
                        why + "; it and what follows are hidden";
      break;
    }
    append(visible.gpus, std::move(found));
  }
  return visible;
}

}  // namespace tutti
