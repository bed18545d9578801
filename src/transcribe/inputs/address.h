#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cloud/caller_pool.h"

namespace tutti {

/// Whether an input is an address and no path: a scheme of two characters or more (RFC 3986) before "://".
bool is_address(std::string_view input);

/// Fault::usage where it is no address that AddressFetch takes, or has a user or a password in it.
Result<void> expect_fetchable(const std::string& address);

/// "host/talks/monday.mp3" of "https://host/talks/monday.mp3?version=2": relative, without "..".
std::filesystem::path path_of_address(const std::string& address);

/// Fetches recordings by their addresses: http and https from any host, s3 with the credentials and the region that
/// AWS's own tools would take (environment, profile, roles). Thread-safe.
class AddressFetch {
 public:
  /// `go_on`, called about once a second, ends what is in work by false; outlives this.
  explicit AddressFetch(std::function<bool()> go_on) : go_on_(std::move(go_on)) {}

  /// Writes to an open, empty file. Fault::missing: it is not there, or not for these credentials;
  /// Fault::unavailable: worth another try; Fault::corrupt: it is empty; Fault::cancelled: `is_wanted` or `go_on`
  /// returned false.
  Result<void> fetch(const std::string& address, int file, const std::function<bool()>& is_wanted);

  /// The recordings below a folder, "s3://bucket/talks/", by their names (is_recording), in S3's order.
  Result<std::vector<std::string>> recordings_below(const std::string& folder);

 private:
  const std::function<bool()> go_on_;
  UsualCallers s3_{go_on_};
};

}  // namespace tutti
