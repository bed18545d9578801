#pragma once

#include <map>
#include <string>

#include "base/error.h"

namespace tutti {

/// A section of the files that AWS's own tools share: ~/.aws/config (or $AWS_CONFIG_FILE) and ~/.aws/credentials (or
/// $AWS_SHARED_CREDENTIALS_FILE).
struct AwsProfile {
  std::string name = "default";
  std::map<std::string, std::string> settings{};  // of both files; those of the credentials file win
  bool is_there = false;                          // in either file

  /// A setting's value; empty where it has none.
  std::string value(const std::string& key) const;
};

/// The profile of that name; empty: that of $AWS_PROFILE, $AWS_DEFAULT_PROFILE, else "default". Settings of the
/// sso-session that it names are among its own. Fault::missing where a profile that was named is in neither file: the
/// error lists those that are.
Result<AwsProfile> read_aws_profile(const std::string& named);

/// ~/.aws/sso/cache, where "aws sso login" keeps its tokens.
std::string sso_cache_folder();

}  // namespace tutti
