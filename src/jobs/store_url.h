#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "base/error.h"

namespace tutti {

/// Where a store is: a folder on a disk of this machine. A server's address is understood and refused by name, so that
/// none is taken for a folder.
class StoreUrl {
 public:
  /// That folder, whatever its name looks like.
  StoreUrl(std::filesystem::path folder) : folder_(std::move(folder)) {}  // NOLINT: a path is the usual URL

  /// What people write: a folder, or a URL, file:///FOLDER among them. Fault::usage for one of a scheme that no store
  /// has; the error shows no password.
  static Result<StoreUrl> parse(const std::string& text);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// A URL without the password in it, for messages.
std::string without_password(const std::string& url);

}  // namespace tutti
