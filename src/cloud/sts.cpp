#include "cloud/sts.h"

#include <chrono>

#include "cloud/answer_text.h"
#include "cloud/aws_caller.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kLongest{10};

}  // namespace

Result<CallerIdentity> caller_identity(const std::shared_ptr<CredentialSource>& credentials,
                                       const AwsLocation& location, const std::function<bool()>& go_on) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  auto caller =
      AwsCaller::open(credentials, [&go_on, end] { return go_on() && std::chrono::steady_clock::now() < end; });
  if (!caller) return tl::unexpected(caller.error());
  const AwsRequest request{.method = "POST",
                           .origin = service_origin("sts", location.region, location.endpoint_url),
                           .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
                           .body = "Action=GetCallerIdentity&Version=2011-06-15"};
  const std::string thing = "the check of the credentials by STS";
  const auto answer = caller->call({"sts", location.region}, request, thing);
  if (!answer && answer.error().fault == Fault::cancelled && go_on())
    return fail(Fault::unavailable, thing + ": no answer within 10 s",
                "Check the network, a proxy (https_proxy) and the endpoint");
  if (!answer) return tl::unexpected(answer.error());
  CallerIdentity identity{xml_text(answer->body, "Account"), xml_text(answer->body, "Arn")};
  if (identity.account.empty())
    return fail(Fault::corrupt, thing + ": expected an account, found another answer", "Check the endpoint");
  return identity;
}

}  // namespace tutti
