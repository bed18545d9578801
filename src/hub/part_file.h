#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned.h"
#include "base/sha256.h"

namespace tutti {

/// A download that is not whole yet: `target`.part, which survives the process, and the digest of what it holds.
class PartFile {
 public:
  /// Opens or creates the part file; what an earlier run left in it is read once, for the digest.
  static Result<PartFile> open(std::filesystem::path target);

  std::int64_t size() const { return size_; }
  std::string sha256() const { return hash_.hex(); }

  Result<void> append(std::string_view piece);
  /// Throws away what is there: the server sends from the start.
  Result<void> restart();
  /// Deletes the part file: what it holds is wrong.
  void discard();
  /// Flushes to the disk and renames to the target.
  Result<void> finish();

 private:
  PartFile(std::filesystem::path target, std::filesystem::path path, OwnedFd fd)
      : target_(std::move(target)), path_(std::move(path)), fd_(std::move(fd)) {}

  std::filesystem::path target_;
  std::filesystem::path path_;
  OwnedFd fd_;
  Sha256 hash_{};
  std::int64_t size_ = 0;
};

}  // namespace tutti
