#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// The command line of tutti-gpu-check. Empty lists: what suits the device.
struct CheckOptions {
  bool help = false;
  bool json = false;
  bool all = false;
  bool cpu = false;
  std::optional<std::filesystem::path> model{};
  std::string check{};               // empty: all of them
  std::vector<std::string> sizes{};  // names from kSizeNames
  std::vector<std::string> types{};  // names of compute types
  std::vector<std::int32_t> slots{};
  std::optional<Seconds> seconds{};  // at least, of each measurement
  std::int32_t beams = 0;            // 0: no beams are measured
};

/// Names that --sizes takes, smallest first.
inline constexpr const char* kSizeNames[] = {"tiny", "base", "small", "medium", "large-v3", "turbo"};

/// Names that --check takes, in the order in which they run.
inline constexpr const char* kCheckNames[] = {"device", "parity", "step", "selection", "worker", "speed", "kernels"};

/// Fault::usage names the flag, what was expected and what was found.
Result<CheckOptions> read_check_options(std::span<char*> arguments);

}  // namespace tutti
