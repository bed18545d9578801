#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "base/error.h"

namespace tutti {

/// Where a store is: a folder on a disk of this machine, or a database on a PostgreSQL server, which the processes of
/// many machines share.
class StoreUrl {
 public:
  /// That folder, whatever its name looks like.
  StoreUrl(std::filesystem::path folder) : folder_(std::move(folder)) {}  // NOLINT: a path is the usual URL

  /// What people write: a folder, or a URL: file:///FOLDER, postgres://USER@HOST/DATABASE (postgresql:// is the same).
  /// Fault::usage for one of a scheme that no store has; the error shows no password.
  static Result<StoreUrl> parse(const std::string& text);

  bool is_server() const { return !server_.empty(); }
  /// Empty for a server's.
  const std::filesystem::path& folder() const { return folder_; }
  /// As libpq takes it, with its password; empty for a folder.
  const std::string& server() const { return server_; }
  /// For messages: the folder, or the address without its password.
  std::string text() const;

 private:
  std::filesystem::path folder_;
  std::string server_{};
};

/// A URL without the passwords in it, for messages: neither that of its user nor that of a parameter.
std::string without_password(const std::string& url);

}  // namespace tutti
