#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/guarded.h"
#include "cloud/aws_profile.h"
#include "cloud/signature.h"

namespace tutti {

/// Where to look for credentials.
struct CredentialOptions {
  AwsProfile profile{};
  bool profile_was_named = false;  // by a flag: then the environment's keys are not taken
  std::string region{};            // whose STS answers for a web identity
};

/// Looks in the order of AWS's own tools: the environment's keys, a web identity (AWS_WEB_IDENTITY_TOKEN_FILE), SSO of
/// the profile, its keys, the container's role, the instance's role (IMDSv2). Fault::missing where none is there, with
/// where it looked; Fault::refused where they have expired. Reads files and, for roles and SSO, answers over HTTP; a
/// machine without an instance service is found out within a second.
Result<Credentials> find_credentials(const CredentialOptions& options, const std::function<bool()>& go_on);

/// The credentials of a program that runs for hours: found once, and found again before they expire. Thread-safe.
class CredentialSource {
 public:
  CredentialSource(CredentialOptions options, std::function<bool()> go_on)
      : options_(std::move(options)), go_on_(std::move(go_on)) {}

  /// Those to sign with now. Renewed when less than ten minutes are left, by one thread, and looked for once a minute:
  /// a role's service hands out new ones about five minutes before the end. Until then the present ones are good.
  Result<Credentials> current();
  /// Others than `old`, which a service has refused as expired.
  Result<Credentials> instead_of(const Credentials& old);

 private:
  struct Held {
    Credentials credentials{};
    std::optional<std::chrono::steady_clock::time_point> looked{};  // for later ones
  };

  Result<Credentials> find();

  const CredentialOptions options_;
  const std::function<bool()> go_on_;
  Guarded<Held> held_{};
};

/// "expire in 42 min", "do not expire".
std::string expiry_text(const Credentials& credentials, std::chrono::system_clock::time_point now);

}  // namespace tutti
