#include "cloud/caller_pool.h"

#include <utility>

#include "base/try.h"
#include "cloud/aws_profile.h"

namespace tutti {

/// With a caller of its own: the check has ten seconds, and the others none.
Result<std::string> CallerPool::account() const {
  return caller_account(credentials_, location_, go_on_);
}

/// What may fail is looked for again at the next call. Threads that need it at the same time wait for the first one,
/// which reads files alone: credentials are requested with the first request that they sign.
Result<CallerPool*> UsualCallers::pool() {
  return pool_.with([this](std::unique_ptr<CallerPool>& pool) -> Result<CallerPool*> {
    if (pool) return pool.get();
    auto profile = TRY(read_aws_profile(""));
    AwsLocation location{.region = usual_region(profile)};
    if (location.region.empty())
      return fail(Fault::usage, "s3://: no region is named", "Set AWS_REGION, as in AWS_REGION=us-east-1");
    auto credentials =
        std::make_shared<CredentialSource>(CredentialOptions{std::move(profile), false, location.region}, go_on_);
    pool = std::make_unique<CallerPool>(std::move(credentials), std::move(location), go_on_);
    return pool.get();
  });
}

}  // namespace tutti
