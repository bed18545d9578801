#pragma once

#include <functional>
#include <optional>

#include "base/error.h"
#include "cloud/aws_profile.h"
#include "cloud/credentials.h"

namespace tutti {

/// Those of the account and role that a profile has by single sign-on (sso_account_id, sso_role_name, sso_region,
/// sso_start_url), for the token that "aws sso login" left in ~/.aws/sso/cache. Fault::refused: there is no login,
/// or the login has expired.
Result<std::optional<Credentials>> sso_credentials(const AwsProfile& profile, const std::function<bool()>& go_on);

}  // namespace tutti
