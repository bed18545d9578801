#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

struct sockaddr;

namespace tutti {

/// What may be fetched for a client of the server.
struct UrlLimits {
  std::uint64_t most_bytes = std::uint64_t{2} << 30;
  /// Hosts that may be in a private network or on this machine. All others must be on the public internet, so that a
  /// client cannot have the server read what only the server reaches.
  std::vector<std::string> private_hosts{};
  bool any_host = false;  // where the user of this machine names the address, and no client
};

/// http or https, with a host. The error names what was expected.
Result<void> check_url(const std::string& url);

/// With every %XX as its byte; a "%" that no two hexadecimal digits follow stays.
std::string percent_decoded(std::string_view text);

/// A URL for messages: without a password and without what may be a secret behind its "?".
std::string shown_address(const std::string& url);

/// Whether an address belongs to the public internet: no loopback, private, link-local, shared, multicast or reserved
/// one, nor an IPv6 address that contains such an IPv4 one.
bool is_public_address(const sockaddr& address);

/// POSTs JSON to a client's address, once, within ten seconds; no redirect is followed. Fault::refused: it is not
/// public; Fault::unavailable: worth another try; Fault::missing: its server does not want it (4xx, or a redirect).
Result<void> post_to_url(const std::string& url, const std::string& json, const UrlLimits& limits,
                         const std::function<bool()>& go_on);

/// Writes what a URL has to `file`. Follows five redirects, each of which is checked again. Fault::refused: too large
/// or not public; Fault::missing: the server answers that it is not there; Fault::unavailable: worth another try, as it
/// was too slow, say; Fault::cancelled: `go_on`, called at least once a second, returned false.
Result<void> fetch_url(const std::string& url, int file, const UrlLimits& limits, const std::function<bool()>& go_on);

}  // namespace tutti
