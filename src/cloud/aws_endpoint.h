#pragma once

#include <string>

#include "base/error.h"

namespace tutti {

/// Which region's services to use, and where they are.
struct AwsLocation {
  std::string region{};
  std::string endpoint_url{};  // of another server of the protocols; empty: AWS's own
};

/// "https://sqs.us-east-1.amazonaws.com": `endpoint_url`, else AWS_ENDPOINT_URL_SQS (or that of another service), else
/// AWS_ENDPOINT_URL, else AWS's own. Without a slash at its end.
std::string service_origin(const std::string& service, const std::string& region, const std::string& endpoint_url);

/// Whether `service` is served by another than AWS's own address.
bool has_own_endpoint(const std::string& service, const std::string& endpoint_url);

/// Fault::usage where it is no http or https address with a host.
Result<void> check_endpoint(const std::string& endpoint_url);

}  // namespace tutti
