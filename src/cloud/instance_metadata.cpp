#include "cloud/instance_metadata.h"

#include "base/environment.h"
#include "base/json.h"
#include "base/strings.h"
#include "cloud/aws_answer.h"

namespace tutti {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;
constexpr Seconds kNear{1};  // a service of this machine answers within it

}  // namespace

HttpRequest near_request(std::string url, Seconds silent) {
  HttpRequest request{.url = std::move(url)};
  request.connect_within = kNear;
  request.silent_at_most = silent;
  request.may_connect = [](const sockaddr&) { return true; };
  return request;
}

std::optional<InstanceMetadata> InstanceMetadata::open(std::function<bool()> go_on) {
  if (ascii_lower(variable("AWS_EC2_METADATA_DISABLED").value_or("")) == "true") return std::nullopt;
  auto http = Http::load();
  if (!http) return std::nullopt;
  std::string base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
  while (base.ends_with('/')) base.pop_back();
  InstanceMetadata metadata(std::move(*http), std::move(base), std::move(go_on));
  if (!metadata.take_token()) return std::nullopt;
  return metadata;
}

bool InstanceMetadata::take_token() {
  HttpRequest request = near_request(base_ + "/latest/api/token", kNear);
  request.method = "PUT";
  request.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"};
  request.body = "";
  auto answer = http_.answer(request, kMostBytes, go_on_);
  if (answer.reply.status != 200 || !answer.reply.failure.empty()) return false;
  token_ = std::move(answer.body);
  return true;
}

FetchedAnswer InstanceMetadata::get(const std::string& path) {
  const auto once = [&] {
    HttpRequest request = near_request(base_ + "/latest/meta-data/" + path);
    request.headers = {"X-aws-ec2-metadata-token: " + token_};
    return http_.answer(request, kMostBytes, go_on_);
  };
  auto answer = once();
  return answer.reply.status == 401 && take_token() ? once() : answer;
}

std::optional<std::string> InstanceMetadata::spot_notice() {
  const auto answer = get("spot/instance-action");
  if (answer.reply.status != 200 || !answer.reply.failure.empty()) return std::nullopt;
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return without_controls(json_text(json, "action") + " at " + json_text(json, "time"));
}

}  // namespace tutti
