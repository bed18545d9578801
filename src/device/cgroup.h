#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/units.h"

namespace tutti {

/// What the control groups around this process allow it; the tightest of all levels, version 1 or 2. Nothing is a limit
/// that is not set. `root` is "/" but in tests.
struct CgroupLimits {
  std::optional<double> cores;            ///< processor time per time: 1.5 is one core and a half
  std::optional<Bytes> memory;            ///< most memory
  std::optional<Bytes> memory_available;  ///< what is left of it; cached files count as free, for they are dropped on
                                          ///< demand
};

/// The limits of this process: the tightest on the way up, of cgroup version 2 or 1, below `root` ("/" but in tests).
CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

/// The folders of the control groups that limit this process's processor time, inner ones first, of version 2 and 1.
std::vector<std::filesystem::path> cpu_group_folders(const std::filesystem::path& root);

}  // namespace tutti
