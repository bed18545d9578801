#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// A file on its way: without a name until it has its own, so that nothing is left of it whatever kills us. Where the
/// file system knows no nameless files (NFS) it has a temporary name, which an end in order removes.
class FileOnTheWay {
 public:
  static Result<FileOnTheWay> open_in(const std::filesystem::path& folder);
  FileOnTheWay(FileOnTheWay&& other) noexcept
      : fd_(std::move(other.fd_)), name_(std::exchange(other.name_, std::string())) {}
  ~FileOnTheWay();

  int fd() const { return fd_.get(); }

  /// Its own name, once it is whole and synced.
  Result<void> put_at(const std::filesystem::path& path);

 private:
  static constexpr ::mode_t kMode = 0644;
  FileOnTheWay(OwnedFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  OwnedFd fd_;
  std::string name_;  // empty: it has none
};

}  // namespace tutti
