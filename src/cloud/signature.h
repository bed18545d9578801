#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cloud/aws_request.h"
#include "cloud/credentials.h"

namespace tutti {

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
