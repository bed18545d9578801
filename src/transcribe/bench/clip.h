#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// The recording that comes with the program, for measurements without a recording of one's own: 29 s of spoken digits
/// by several people. `path` leads to it while `file` is held.
struct BundledClip {
  OwnedFd file;
  std::filesystem::path path;
};

Result<BundledClip> bundled_clip();

}  // namespace tutti
