#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace tutti {

/// What requests are signed with. Neither the secret key nor the session token is ever printed.
struct Credentials {
  std::string access_key{};  // "AKIA…": names the keys, and is no secret
  std::string secret_key{};
  std::string session_token{};                                     // empty for keys without an end
  std::optional<std::chrono::system_clock::time_point> expires{};  // none: never, or it is not known
  std::string source{};  // "the environment", "profile work", "the instance's role": for messages

  /// Whether they would no longer be good for a request that begins `ahead` of now.
  bool expires_within(std::chrono::system_clock::time_point now, std::chrono::seconds ahead) const {
    return expires && *expires - now < ahead;
  }
};

}  // namespace tutti
