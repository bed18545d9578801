#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace tutti {

/// Gives what is at `from` the name `to`, unless something has that name: std::errc::file_exists, and nothing has
/// changed. Other errors are rename's.
std::error_code rename_if_free(const std::filesystem::path& from, const std::filesystem::path& to);

/// The path by which an open file of this process can be opened again, also one without a name, for as long as the
/// descriptor is open. It follows the file, whatever has its name by then.
std::filesystem::path path_of_descriptor(int file);

/// Gives an open file without a name the name `to`, where nothing has it. std::errc::file_exists otherwise,
/// std::errc::cross_device_link where that is on another file system; other errors are linkat's.
std::error_code name_descriptor(int file, const std::filesystem::path& to);

/// Makes a folder that no other user may enter (0700), whatever the umask, and as usual those above it. One that is
/// there already stays as it is.
Result<void> make_private_folder(const std::filesystem::path& folder);

/// A new synced file in the folder of `path`, with a name of its own, that holds `content`: to be renamed to `path`.
Result<std::filesystem::path> write_beside(const std::filesystem::path& path, std::string_view content);

/// Writes a file whole, as write_file_atomically does, but a link at `path` is replaced itself: what it leads to stays.
/// Only a pipe or a device is written to through its link.
Result<void> replace_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Gives a file that is there another content: it keeps the old one, or has all of the new. Its permissions stay.
Result<void> rewrite_file(const std::filesystem::path& path, std::string_view content);

/// Fault::usage where a path holds a NUL character: the system would take what precedes it for the whole.
Result<void> expect_no_nul(const std::filesystem::path& path);

}  // namespace tutti
