#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace tutti {

/// The endings of names by which recordings and videos are found in folders, with their dot and in lower case; of files
/// that differ in it alone the first is taken.
std::span<const std::string_view> recording_endings();

/// Whether it is called like a recording, in upper or lower case. Looks at the name alone.
bool is_recording(const std::filesystem::path& path);

}  // namespace tutti
