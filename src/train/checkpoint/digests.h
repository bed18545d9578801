#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Writes FOLDER/digests.json: what the named files of the folder hold now.
Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files);

/// Fault::corrupt where a file does not hold any more what digests.json says. What an older version wrote without them
/// passes.
Result<void> check_digests(const std::filesystem::path& folder);

}  // namespace tutti
