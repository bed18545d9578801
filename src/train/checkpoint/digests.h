#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Writes FOLDER/digests.json: what the named files of the folder hold now.
Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files);

/// FOLDER/digests.json, where there is one, with what this file of it holds now; the others hold what they held.
Result<void> renew_digest(const std::filesystem::path& folder, const std::string& file);

/// Fault::corrupt where a file does not hold any more what digests.json says. What an older version wrote without them
/// passes.
Result<void> check_digests(const std::filesystem::path& folder);

}  // namespace tutti
