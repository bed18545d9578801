#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Writes FOLDER/digests.json: what the named files of the folder hold now. `others` were written with them and may
/// change.
Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::vector<std::string>& others = {});

/// All that FOLDER/digests.json names, and itself; without one, empty.
std::set<std::string> written_files(const std::filesystem::path& folder);

/// FOLDER/digests.json, where there is one, with what this file of it holds now; the others hold what they held.
Result<void> renew_digest(const std::filesystem::path& folder, const std::string& file);

/// Fault::corrupt where a file does not match its digest in digests.json any more. A checkpoint that an older version
/// wrote without digests passes.
Result<void> check_digests(const std::filesystem::path& folder);

}  // namespace tutti
