#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "net/http.h"

namespace tutti {

/// A request to a service of this machine or of its host, by no proxy. It ends where nothing comes for `silent`.
HttpRequest near_request(std::string url, Seconds silent = Seconds(10));

/// The metadata service of an EC2 instance, by IMDSv2 alone, at AWS_EC2_METADATA_SERVICE_ENDPOINT or its usual address.
/// One thread at a time.
class InstanceMetadata {
 public:
  /// None: this is no instance, its service does not answer within a second, or AWS_EC2_METADATA_DISABLED=true.
  /// `go_on`, called about once a second, ends requests by false.
  static std::optional<InstanceMetadata> open(std::function<bool()> go_on);

  /// The answer to GET /latest/meta-data/PATH; with a new token where the old one has expired.
  FetchedAnswer get(const std::string& path);
  /// "terminate at 2026-11-28T18:02:00Z" where this spot instance is about to be taken away, usually two minutes
  /// before; none: it is not, or the service does not answer now.
  std::optional<std::string> spot_notice();

 private:
  InstanceMetadata(Http http, std::string base, std::function<bool()> go_on)
      : http_(std::move(http)), base_(std::move(base)), go_on_(std::move(go_on)) {}
  bool take_token();

  Http http_;
  std::string base_;
  std::function<bool()> go_on_;
  std::string token_{};
};

}  // namespace tutti
