#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/field_names.h"

namespace tutti {

/// What to do where a store cannot lie.
inline std::string state_elsewhere() {
  return "Name a folder on a disk of this machine with " + field("state") + " DIR";
}

/// Why a database must not lie on a file system of this kind (statfs f_type), by its name; none: it may.
std::optional<std::string> network_file_system(long kind);

/// The same for the file system that holds `folder`.
std::optional<std::string> network_file_system(const std::filesystem::path& folder);

}  // namespace tutti
