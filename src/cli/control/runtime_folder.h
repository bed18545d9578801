#pragma once

#include <filesystem>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Where running batches can be talked to: $XDG_RUNTIME_DIR/tutti, else /tmp/tutti-UID. Only its owner may enter; a
/// folder of somebody else's is refused.
Result<std::filesystem::path> runtime_folder();

/// The sockets of batches that may be running, the latest first; none where there is no folder.
std::vector<std::filesystem::path> control_sockets();

}  // namespace tutti
