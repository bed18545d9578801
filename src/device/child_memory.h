#pragma once

#include <filesystem>
#include <optional>

#include "base/units.h"

namespace tutti {

/// Resident memory, at its peak so far, of the largest running process that this one has started. None without any, and
/// where the kernel does not report it: some list no children (CONFIG_PROC_CHILDREN), some sandboxes show no peak.
/// `root` is "/" but in tests.
std::optional<Bytes> largest_child(const std::filesystem::path& root = "/");

}  // namespace tutti
