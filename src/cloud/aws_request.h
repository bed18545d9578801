#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A request to a service of AWS, or to a server of its protocol, before it is signed and sent.
struct AwsRequest {
  std::string method = "GET";
  std::string origin{};                                        // "https://sqs.us-east-1.amazonaws.com"
  std::string path = "/";                                      // begins with a slash; as it is named, not encoded
  std::vector<std::pair<std::string, std::string>> query{};    // not encoded
  std::vector<std::pair<std::string, std::string>> headers{};  // beside Host and those of the signature
  std::string body{};
};

/// RFC 3986 as SigV4 wants it: A-Z, a-z, 0-9 and "-._~" as they are, every other byte as "%2F"; `keep` has more
/// bytes that stay.
std::string percent_encoded(std::string_view text, std::string_view keep = {});

/// "/a%20key?list-type=2&prefix=a%2F": what is behind the origin, with the query in SigV4's order.
std::string target_of(const AwsRequest& request);

/// "sqs.us-east-1.amazonaws.com", "127.0.0.1:5000": the Host header of an origin.
std::string host_of_origin(std::string_view origin);

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
