#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cloud/aws_profile.h"
#include "cloud/signature.h"

namespace tutti {

// Credentials that the surroundings of this process give it. None: there is no such role here. Each may wait for the
// network; `go_on`, called about once a second, ends that by false.

/// Of the role that AWS_ROLE_ARN names, for the token in AWS_WEB_IDENTITY_TOKEN_FILE (Kubernetes): STS
/// AssumeRoleWithWebIdentity.
Result<std::optional<Credentials>> web_identity_credentials(const std::string& region,
                                                            const std::function<bool()>& go_on);

/// Of the container's role: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, or _FULL_URI, which has to be https or on this
/// machine.
Result<std::optional<Credentials>> container_credentials(const std::function<bool()>& go_on);

/// Of the instance's role, from its metadata service by IMDSv2 (AWS_EC2_METADATA_SERVICE_ENDPOINT;
/// AWS_EC2_METADATA_DISABLED=true leaves it out). It is there, or does not connect within a second.
Result<std::optional<Credentials>> instance_credentials(const std::function<bool()>& go_on);

/// A moment as AWS writes it, "2026-11-28T18:00:00Z"; none for other texts.
std::optional<std::chrono::system_clock::time_point> aws_time(std::string_view text);

/// Those of the account and role that a profile has by single sign-on (sso_account_id, sso_role_name, sso_region,
/// sso_start_url), for the token that "aws sso login" left in ~/.aws/sso/cache. Fault::refused: there is no login,
/// or the login has expired.
Result<std::optional<Credentials>> sso_credentials(const AwsProfile& profile, const std::function<bool()>& go_on);

}  // namespace tutti
