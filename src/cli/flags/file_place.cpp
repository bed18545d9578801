#include "cli/flags/file_place.h"

#include "base/files.h"

namespace tutti {

namespace fs = std::filesystem;

Result<void> expect_file_place(const std::string& flag, const fs::path& file) {
  const std::string thing = flag + " " + file.string();
  std::error_code why;
  if (fs::is_directory(file, why)) return fail(Fault::usage, thing + ": expected a file, found a folder");
  if (file.empty() || fs::exists(file, why)) return {};
  why = why_not_writable(file.has_parent_path() ? file.parent_path() : fs::path("."));
  if (why) return tl::unexpected(system_error(thing, "cannot be written", why.value()));
  return {};
}

}  // namespace tutti
