#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tutti {

/// Whole content of a small system file; nothing where it cannot be read.
std::optional<std::string> read_system_file(const std::filesystem::path& path);

/// The value of the first line "key<spaces>: value" or "key: value" in the style of /proc/cpuinfo, /proc/meminfo and
/// /proc/PID/status, without surrounding spaces.
std::optional<std::string_view> value_of_key(std::string_view text, std::string_view key);

/// The whole number at the start of `text` (after spaces), whatever follows; nothing where there is none.
std::optional<std::int64_t> leading_number(std::string_view text);

/// The number of value_of_key in KiB, "MemTotal:  16384 kB".
std::optional<Bytes> kilobytes_of_key(std::string_view text, std::string_view key);

}  // namespace tutti
