#include "device/nvml/nvml.h"

#include "device/nvml/library.h"
#include "device/nvml/readings.h"

namespace tutti {

Result<Nvml> Nvml::open() {
  return NvmlLibrary::load().map([](auto library) { return Nvml(std::move(library)); });
}

std::optional<std::string> driver_version(const NvmlLibrary& library) {
  char text[96] = {};
  if (!library.driver_version || library.driver_version(text, sizeof text - 1) != nvml::kSuccess) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> Nvml::driver_version() const {
  return tutti::driver_version(*library_);
}

std::optional<std::string> Nvml::cuda_version() const {
  int version = 0;  // 1000 * major + 10 * minor
  if (!library_->cuda_version || library_->cuda_version(&version) != nvml::kSuccess) return std::nullopt;
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<Nvml::Listing> Nvml::list() const {
  return list_cards(*library_).map([](NvmlListing found) {
    Listing listing{.gpus = {}, .problems = std::move(found.problems)};
    for (auto& card : found.cards) listing.gpus.push_back(std::move(card.gpu));
    return listing;
  });
}

}  // namespace tutti
