#pragma once

#include <filesystem>
#include <optional>

#include "base/units.h"

namespace tutti {

/// Resident memory, at its peak so far, of the largest process that this one has started and that still lives. None
/// without any, and where the kernel does not tell: some lists no children (CONFIG_PROC_CHILDREN), some sandbox shows
/// no peak. `root` is "/" but in tests.
std::optional<Bytes> largest_child(const std::filesystem::path& root = "/");

}  // namespace tutti
