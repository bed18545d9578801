#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// The sign that a process which works on jobs is alive: a file with its owner's name, locked (flock) as long as the
/// process runs, whatever kills it. Unlike a process id, it is never given twice and holds across pid namespaces.
class OwnerLock {
 public:
  /// Creates and locks <folder>/<a new random name>; it appears there when it is locked.
  static Result<OwnerLock> take(const std::filesystem::path& folder);
  OwnerLock(OwnerLock&&) noexcept = default;
  OwnerLock& operator=(OwnerLock&&) noexcept = default;
  ~OwnerLock();

  const std::string& name() const { return name_; }

  /// Whether the owner of that name has gone; its file is then removed. An owner stopped by a signal has not gone.
  static bool has_gone(const std::filesystem::path& folder, const std::string& name);
  /// Removes the files of all owners that have gone.
  static void clean(const std::filesystem::path& folder);

 private:
  OwnerLock(std::filesystem::path path, std::string name, OwnedFd file)
      : path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}

  std::filesystem::path path_;
  std::string name_;
  OwnedFd file_;
};

}  // namespace tutti
