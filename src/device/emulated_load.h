#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What an emulated worker takes of a GPU of the fake driver (tests/support/fake_nvml/README.md): while this object
/// exists, the GPU shows its memory and load as this process's. One thread at a time.
class EmulatedLoad {
 public:
  /// Nothing where there is no fake driver: TUTTI_FAKE_NVML is not set.
  static std::unique_ptr<EmulatedLoad> on(std::string uuid);
  EmulatedLoad(const EmulatedLoad&) = delete;
  EmulatedLoad& operator=(const EmulatedLoad&) = delete;
  ~EmulatedLoad();

  /// From now on it holds `memory` and keeps the GPU busy for that part of the time, 0 to 1.
  Result<void> set(Bytes memory, double utilisation);

 private:
  EmulatedLoad(std::filesystem::path file, std::string uuid) : file_(std::move(file)), uuid_(std::move(uuid)) {}

  std::filesystem::path file_;
  std::string uuid_;
};

}  // namespace tutti
