#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tutti {

/// What standard input holds: names of recordings, one a line or each ended by a NUL as `find -print0` writes, or one
/// recording. A recording has bytes that no name has, or begins otherwise than a list that is ended by NULs.
class StandardInput {
 public:
  /// Reads its beginning, waiting for the first name alone, or the whole recording into a temporary file.
  Result<void> begin();
  /// The recording's temporary file; empty: names are there. As long as this object.
  const std::filesystem::path& audio() const { return audio_; }
  /// What was read of the names.
  const std::string& head() const { return head_; }
  /// What ends each name: a line's end or a NUL.
  char name_end() const { return name_end_; }
  /// All names, waited for.
  Result<std::vector<std::string>> names() const;

 private:
  bool is_recording_begun() const;
  Result<void> keep_recording();

  std::optional<TemporaryFolder> folder_{};
  std::string head_{};
  std::filesystem::path audio_{};
  char name_end_ = '\n';
};

}  // namespace tutti
