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
  bool is_there = false;                          // in either file; else it has no settings

  /// A setting's value, as in value("sso_region"); empty where it has none. Names are in lower
  /// case.
  std::string value(const std::string& key) const;
};

/// Reads both files at every call; one that is not there has no settings. Nothing of them is kept or printed but names
/// of profiles. Indented lines (tables such as "s3 =") are not read. Thread-safe.
///
/// The profile of that name; empty: that of $AWS_PROFILE, $AWS_DEFAULT_PROFILE, else "default". Settings of the
/// sso-session that it names are among its own. Fault::missing where a profile that was named is in neither file: the
/// error lists those that are.
Result<AwsProfile> read_aws_profile(const std::string& named);

/// AWS_REGION, AWS_DEFAULT_REGION, else the profile's region: where neither a flag nor a URL names one. Empty: it is
/// not known.
std::string usual_region(const AwsProfile& profile);

/// ~/.aws/sso/cache, where "aws sso login" keeps its tokens.
std::string sso_cache_folder();

}  // namespace tutti
