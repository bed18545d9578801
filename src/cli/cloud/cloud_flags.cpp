#include "cli/cloud/cloud_flags.h"

#include <chrono>

#include "base/environment.h"
#include "base/try.h"
#include "cloud/aws_caller.h"

namespace tutti {
namespace {

Result<std::string> region_of(const CloudFlags& flags, const QueueUrl& queue, const AwsProfile& profile) {
  if (!flags.region.empty() && !queue.region.empty() && flags.region != queue.region)
    return fail(Fault::usage, "--region " + flags.region + ": the queue's URL names " + queue.region,
                "Leave --region out, or give the URL of a queue in " + flags.region);
  if (!flags.region.empty()) return flags.region;
  if (!queue.region.empty()) return queue.region;
  if (auto usual = usual_region(profile); !usual.empty()) return usual;
  return fail(Fault::usage, "no region is named", "Give --region, as in --region us-east-1, or set AWS_REGION");
}

}  // namespace

void add_cloud(OptionTable& table, CloudFlags& flags) {
  table
      .add("region", flags.region, "NAME",
           "region of the services, as in us-east-1; without it that of the queue's URL, AWS_REGION or the profile")
      .letter = 'r';
  table.add("profile", flags.profile, "NAME",
            "profile of ~/.aws/config and ~/.aws/credentials; without it AWS_PROFILE, or the environment's keys");
  table.add("endpoint-url", flags.endpoint_url, "URL",
            "another server of the same protocols, as in http://127.0.0.1:5000; without it AWS_ENDPOINT_URL, or AWS");
}

Result<CloudAccess> open_cloud(const CloudFlags& flags, const QueueUrl& queue, StopSignal& stop) {
  TRY(check_endpoint(flags.endpoint_url));
  auto profile = TRY(read_aws_profile(flags.profile));
  auto region = TRY(region_of(flags, queue, profile));
  if (!queue.url.empty() && queue.region.empty() && !has_own_endpoint("sqs", flags.endpoint_url))
    return fail(Fault::usage, "--queue-url: its host is none of Amazon's, and requests would be signed for it",
                "Give the server with --endpoint-url, too, if it is the right one");
  const auto go_on = [&stop] { return !stop.raised(); };
  CloudAccess access{.location = {region, flags.endpoint_url}};
  access.credentials =
      std::make_shared<CredentialSource>(CredentialOptions{std::move(profile), !flags.profile.empty(), region}, go_on);
  auto caller = TRY(AwsCaller::open(access.credentials, go_on));
  access.caller = std::make_unique<AwsCaller>(std::move(caller));
  return access;
}

Result<std::string> checked_identity(const CloudAccess& access, StopSignal& stop) {
  const auto account = TRY(caller_account(access.credentials, access.location, [&stop] { return !stop.raised(); }));
  const auto credentials = TRY(access.credentials->current());
  return "credentials of " + account + " (" + credentials.source + "), " +
         expiry_text(credentials, std::chrono::system_clock::now());
}

Result<QueueUrl> queue_of(const std::string& flag) {
  const std::string url = flag.empty() ? variable("QUEUE_URL").value_or("") : flag;
  if (url.empty())
    return fail(Fault::usage, "no queue is named",
                "Give --queue-url, or set QUEUE_URL; 'tutti queue create' prints it");
  return parse_queue_url(url);
}

}  // namespace tutti
