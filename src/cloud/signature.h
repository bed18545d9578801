#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cloud/aws_request.h"

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

/// Whom a signature is for.
struct SigningScope {
  std::string service{};  // "s3", "sqs", "sts"
  std::string region{};   // "us-east-1"
};

/// AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"; held to botocore in
/// tests/cloud/signature_test.cpp): the headers to send with the request, each a name and its value, its own headers,
/// Host and Authorization included. All of them are signed but for Authorization. The path is encoded once, as S3
/// requires; of other services only the path "/" is used. Thread-safe.
std::vector<std::pair<std::string, std::string>> signed_headers(const AwsRequest& request,
                                                                const Credentials& credentials,
                                                                const SigningScope& scope,
                                                                std::chrono::system_clock::time_point now);

}  // namespace tutti
