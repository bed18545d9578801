#include "cloud/credential_source.h"

#include <chrono>
#include <optional>

#include "base/environment.h"
#include "base/log.h"
#include "cloud/role_credentials.h"

namespace tutti {
namespace {

using std::chrono::system_clock;

constexpr std::chrono::minutes kRenewBefore{10}, kLookEvery{1};

/// None: the environment has none.
Result<std::optional<Credentials>> of_environment() {
  const auto key = variable("AWS_ACCESS_KEY_ID"), secret = variable("AWS_SECRET_ACCESS_KEY");
  if (!key && !secret) return std::nullopt;
  if (!key || !secret)
    return fail(Fault::usage,
                std::string(key ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID") + " is not set, and " +
                    (key ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY") + " is",
                "Set both of them, or none");
  return Credentials{.access_key = *key,
                     .secret_key = *secret,
                     .session_token = variable("AWS_SESSION_TOKEN").value_or(""),
                     .source = "the environment"};
}

Result<std::optional<Credentials>> of_profile(const AwsProfile& profile, const std::function<bool()>& go_on) {
  if (!profile.value("sso_account_id").empty()) return sso_credentials(profile, go_on);
  const std::string key = profile.value("aws_access_key_id"), secret = profile.value("aws_secret_access_key");
  if (!key.empty() && !secret.empty())
    return Credentials{.access_key = key,
                       .secret_key = secret,
                       .session_token = profile.value("aws_session_token"),
                       .source = "profile " + profile.name};
  if (key.empty() != secret.empty())
    return fail(Fault::usage,
                "profile " + profile.name + ": it has " +
                    (key.empty() ? "aws_secret_access_key without aws_access_key_id"
                                 : "aws_access_key_id without aws_secret_access_key"),
                "Give it both");
  for (const char* other : {"role_arn", "credential_process"})
    if (!profile.value(other).empty())
      return fail(Fault::unsupported, "profile " + profile.name + ": " + other + " is not supported",
                  "Export the keys that 'AWS_PROFILE=" + profile.name + " aws configure export-credentials' prints");
  return std::nullopt;
}

}  // namespace

Result<Credentials> find_credentials(const CredentialOptions& options, const std::function<bool()>& go_on) {
  if (!options.profile_was_named) {
    auto found = of_environment();
    if (!found) return tl::unexpected(found.error());
    if (*found) return **found;
    found = web_identity_credentials(options.region, go_on);
    if (!found) return tl::unexpected(found.error());
    if (*found) return **found;
  }
  auto found = of_profile(options.profile, go_on);
  if (!found) return tl::unexpected(found.error());
  if (*found) return **found;
  for (const auto role : {container_credentials, instance_credentials}) {
    found = role(go_on);
    if (!found) return tl::unexpected(found.error());
    if (*found) return **found;
  }
  return fail(Fault::missing,
              "no credentials of AWS were found: neither in the environment (AWS_ACCESS_KEY_ID) nor in profile " +
                  options.profile.name + " nor of a container's or an instance's role",
              "Run 'aws configure' or 'aws sso login', export keys, or name a profile");
}

Result<Credentials> CredentialSource::find() {
  auto found = find_credentials(options_, go_on_);
  if (found) held_.with([&](Held& held) { held.credentials = *found; });
  return found;
}

Result<Credentials> CredentialSource::current() {
  const auto now = system_clock::now();
  bool is_due = false;
  const Credentials held = held_.with([&](Held& all) {
    const auto& credentials = all.credentials;
    const auto time = std::chrono::steady_clock::now();
    const bool is_over = credentials.access_key.empty() || credentials.expires_within(now, std::chrono::seconds(0));
    const bool has_looked = all.looked && time - *all.looked < kLookEvery;
    is_due = is_over || (credentials.expires_within(now, kRenewBefore) && !has_looked);
    if (is_due) all.looked = time;
    return credentials;
  });
  if (!is_due) return held;
  auto found = find();
  if (found || held.access_key.empty() || held.expires_within(system_clock::now(), std::chrono::seconds(0)))
    return found;
  log(Level::warning, "the credentials of " + held.source + " could not be renewed: " + found.error().text());
  return held;
}

Result<Credentials> CredentialSource::instead_of(const Credentials& old) {
  const Credentials held = held_.with([](const Held& all) { return all.credentials; });
  return held.access_key != old.access_key || held.session_token != old.session_token ? Result<Credentials>(held)
                                                                                      : find();
}

std::string expiry_text(const Credentials& credentials, system_clock::time_point now) {
  if (!credentials.expires) return credentials.session_token.empty() ? "do not expire" : "expire at an unknown time";
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(*credentials.expires - now).count();
  if (minutes < 0) return "have expired";
  return minutes < 120 ? "expire in " + std::to_string(minutes) + " min"
                       : "expire in " + std::to_string(minutes / 60) + " h";
}

}  // namespace tutti
