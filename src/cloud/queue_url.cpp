#include "cloud/queue_url.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "cloud/aws_request.h"
#include "net/http.h"

namespace tutti {
namespace {

constexpr std::size_t kLongestKey = 1024;  // bytes

bool is_region(std::string_view label) {
  const auto parts = split(label, '-');
  return parts.size() >= 3 && is_all_digits(parts.back()) && parts.front().size() >= 2;
}

bool is_bucket(const std::string& name) {
  const auto takes = [](char c) {
    return (c >= 'a' && c <= 'z') || is_ascii_digit(static_cast<unsigned char>(c)) || c == '-' || c == '.' ||
           c == '_' || is_ascii_upper(c);  // the last two: of buckets from before 2018
  };
  return name.size() >= 3 && name.size() <= 255 && std::ranges::all_of(name, takes);
}

tl::unexpected<Error> no_s3_path(const std::string& path, const std::string& why) {
  return fail(Fault::usage, "'" + without_controls(path.substr(0, 300)) + "': expected s3://BUCKET/KEY, found " + why);
}

}  // namespace

std::string region_of_host(const std::string& host) {
  const std::string bare = host.substr(0, host.find(':'));
  if (!bare.ends_with(".amazonaws.com") && !bare.ends_with(".amazonaws.com.cn")) return {};
  for (const auto label : split(bare, '.'))
    if (is_region(label)) return std::string(label);
  return bare == "queue.amazonaws.com" ? "us-east-1" : "";
}

Result<QueueUrl> parse_queue_url(const std::string& url) {
  const std::string origin = origin_of(url), host = host_of_origin(origin);
  const bool is_web = origin.starts_with("http://") || origin.starts_with("https://");
  const auto scheme = url.find("://");
  const auto path = scheme == std::string::npos ? std::string::npos : url.find('/', scheme + 3);
  const std::string name = path == std::string::npos ? "" : url.substr(url.rfind('/') + 1);
  const auto takes = [](char c) {
    return is_ascii_alphabetic(c) || is_ascii_digit(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  if (!is_web || host.empty() || name.empty() || !std::ranges::all_of(name, takes))
    return fail(Fault::usage,
                "the queue's URL: expected one such as https://sqs.us-east-1.amazonaws.com/123456789012/jobs, found '" +
                    without_controls(path == std::string::npos ? url.substr(0, 100) : origin + url.substr(path, 100)) +
                    "'",
                "'tutti queue create NAME' prints it");
  return QueueUrl{url, name, region_of_host(host)};
}

bool is_s3_path(const std::string& path) {
  return ascii_lower(path.substr(0, 5)) == "s3://";
}

Result<S3Path> parse_s3_path(const std::string& path) {
  if (!is_s3_path(path)) return no_s3_path(path, "another address");
  const auto slash = path.find('/', 5);
  S3Path parsed{path.substr(5, slash == std::string::npos ? slash : slash - 5),
                slash == std::string::npos ? "" : path.substr(slash + 1)};
  if (!is_bucket(parsed.bucket)) return no_s3_path(path, "the bucket '" + without_controls(parsed.bucket) + "'");
  if (parsed.key.empty() || parsed.key.ends_with('/')) return no_s3_path(path, "no key of an object");
  if (parsed.key.size() > kLongestKey)
    return no_s3_path(path, "a key of " + std::to_string(parsed.key.size()) + " bytes");
  for (const auto part : split(parsed.key, '/'))
    if (part == "." || part == "..") return no_s3_path(path, "'" + std::string(part) + "' in the key");
  return parsed;
}

}  // namespace tutti
