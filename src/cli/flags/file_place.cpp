#include "cli/flags/file_place.h"

#include <optional>

#include "base/files.h"
#include "base/system_error.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// Where its content is put together before it appears whole: beside it, or for a link beside what that leads to. None:
/// a pipe or a device is written to directly.
std::optional<fs::path> folder_to_write_in(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_other(file, ignored)) return {};
  return folder_of(file);
}

}  // namespace

Result<void> expect_output_file(const std::string& flag, const fs::path& file) {
  const std::string thing = flag + " " + file.string();
  std::error_code why;
  if (fs::is_directory(file, why)) return fail(Fault::usage, thing + ": expected a file, found a folder");
  if (file.empty()) return {};
  const auto folder = folder_to_write_in(file);
  if (!folder) return {};
  why = why_not_writable(*folder);
  if (why) return tl::unexpected(system_error(thing, "cannot be written", why.value()));
  return {};
}

}  // namespace tutti
