#include "device/visible.h"

#include <algorithm>
#include <charconv>

#include "device/proc_text.h"

namespace tutti {
namespace {

bool begins_with(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

const Gpu* find_entry(std::span<const Gpu> gpus, std::string_view entry) {
  if (begins_with(entry, "GPU-")) return find_by_uuid(gpus, entry);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (error != std::errc() || end != entry.data() + entry.size() || index >= gpus.size()) return nullptr;
  return &gpus[index];
}

}  // namespace

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
    visible.gpus.assign(gpus.begin(), gpus.end());
    return visible;
  }
  std::string_view rest = *cuda_visible_devices;
  while (!trimmed(rest).empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    const auto entry = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const Gpu* gpu = find_entry(gpus, entry);
    const bool is_repeated = gpu && std::any_of(visible.gpus.begin(), visible.gpus.end(),
                                                [&](const Gpu& seen) { return seen.index == gpu->index; });
    if (!gpu || is_repeated) {
      const char* why = is_repeated ? "' names a GPU twice" : "' names no GPU of this machine";
      visible.problem = "CUDA_VISIBLE_DEVICES=" + std::string(*cuda_visible_devices) + ": '" + std::string(entry) +
                        why + "; it and what follows are hidden";
      break;
    }
    visible.gpus.push_back(*gpu);
  }
  return visible;
}

}  // namespace tutti
