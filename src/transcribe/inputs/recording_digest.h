#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace tutti {

/// SHA-256 of a whole file, as 64 hexadecimal digits. Fault::cancelled soon after `aborted`. Thread-safe.
Result<std::string> sha256_of_recording(const std::filesystem::path& path, const std::atomic<bool>& aborted);

}  // namespace tutti
