#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "cloud/aws_endpoint.h"
#include "cloud/credential_source.h"

namespace tutti {

/// Whose credentials they are.
struct CallerIdentity {
  std::string account{};  // "123456789012"
  std::string arn{};      // of the user or role
};

/// Requests GetCallerIdentity of STS within ten seconds: whether requests will be accepted at all, before any work
/// begins. Fault::unavailable where it did not answer in time.
Result<CallerIdentity> caller_identity(const std::shared_ptr<CredentialSource>& credentials,
                                       const AwsLocation& location, const std::function<bool()>& go_on);

}  // namespace tutti
