#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "cloud/aws_caller.h"
#include "cloud/aws_request.h"
#include "cloud/credential_source.h"
#include "cloud/queue_url.h"
#include "settings/option_table.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// Which account, region and server a command works with.
struct CloudFlags {
  std::string region{};
  std::string profile{};
  std::string endpoint_url{};
};

/// Binds --region (-r), --profile and --endpoint-url.
void add_cloud(OptionTable& table, CloudFlags& flags);

/// What a command needs to call services.
struct CloudAccess {
  AwsLocation location{};
  std::shared_ptr<CredentialSource> credentials{};
  std::unique_ptr<AwsCaller> caller{};
};

/// Decides the region: the flag's, else that of the queue's URL, else AWS_REGION's, AWS_DEFAULT_REGION's or the
/// profile's. Fault::usage where the URL contradicts the flag, and where no region is known. Credentials are looked for
/// with the first call. `stop` outlives it.
Result<CloudAccess> open_cloud(const CloudFlags& flags, const QueueUrl& queue, StopSignal& stop);

/// Checks the credentials by STS: "credentials of ACCOUNT (profile work), expire in 42 min".
Result<std::string> checked_identity(const CloudAccess& access, StopSignal& stop);

/// The value of --queue-url, else of QUEUE_URL, as field note 001's programs read it.
Result<QueueUrl> queue_of(const std::string& flag);

}  // namespace tutti
