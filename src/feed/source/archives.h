#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "feed/source/dataset.h"

namespace tutti {

/// Whether bytes begin as gzip's do.
inline bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

/// The text that gzip has compressed, in one part or several behind one another. Fault::corrupt where it is damaged or
/// cut off, Fault::exhausted where memory runs out.
Result<std::string> gunzipped(std::string_view bytes);

// Files that hold others: compressed lists, and shards.

/// A regular file in a tar.
struct TarMember {
  std::string name{};  ///< with its folders
  FileRange bytes{};   ///< of the tar
};

/// The regular files of a tar, in its order; `fd` is open for reading, `name` is for errors. Only headers are read.
/// Understands POSIX's ustar and pax and GNU's long names. Fault::corrupt where it is cut off, or no tar (a compressed
/// one is none).
Result<std::vector<TarMember>> tar_members(int fd, const std::string& name);

}  // namespace tutti
