#pragma once

#include <string>

#include "base/error.h"

namespace tutti {

/// "https://sqs.us-east-1.amazonaws.com/123456789012/jobs".
struct QueueUrl {
  std::string url{};
  std::string name{};    // "jobs"
  std::string region{};  // "us-east-1"; empty where the host does not name one: another server of the protocol
};

/// Fault::usage where it is no http or https address that ends in a queue's name.
Result<QueueUrl> parse_queue_url(const std::string& url);

/// The region of an address of AWS: "sqs.eu-west-1.amazonaws.com", "eu-west-1.queue.amazonaws.com", those of VPC
/// endpoints and of China; empty for every other host.
std::string region_of_host(const std::string& host);

/// A bucket's object, "s3://bucket/talks/monday.mp3".
struct S3Path {
  std::string bucket{};
  std::string key{};

  std::string text() const { return "s3://" + bucket + "/" + key; }
};

/// Whether it begins as one, in whatever case.
bool is_s3_path(const std::string& path);

/// Fault::usage where the bucket's name is none that S3 takes, where the key is empty, longer than S3 takes or has a
/// part "." or "..", which would lead elsewhere as the name of a file.
Result<S3Path> parse_s3_path(const std::string& path);

}  // namespace tutti
