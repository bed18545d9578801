#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/error.h"

namespace tutti {

/// A folder in TMPDIR under a random name, for what a run does not keep; gone with this object, and so
/// is what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;
    std::string name = (std::filesystem::temp_directory_path(none) / "tutti-XXXXXX").string();
    if (!none && ::mkdtemp(name.data())) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  /// Fault::unavailable where it could not be made.
  Result<std::filesystem::path> path() const {
    if (path_.empty())
      return fail(Fault::unavailable, "no folder could be made for what the run writes",
                  "Set TMPDIR to a folder that can be written to");
    return path_;
  }

 private:
  std::filesystem::path path_{};
};

}  // namespace tutti
