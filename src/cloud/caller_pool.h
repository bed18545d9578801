#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/try.h"
#include "cloud/aws_caller.h"
#include "cloud/s3.h"
#include "cloud/sqs.h"

namespace tutti {

/// Clients of SQS and S3 for many threads: each call has an AwsCaller of its own, which keeps its connection for the
/// next one. Thread-safe.
class CallerPool {
 public:
  /// `go_on` as AwsCaller::open.
  CallerPool(std::shared_ptr<CredentialSource> credentials, AwsLocation location, std::function<bool()> go_on)
      : credentials_(std::move(credentials)), location_(std::move(location)), go_on_(std::move(go_on)) {}

  /// What `fn` answers, a Result; the error where libcurl is not there.
  template <class Fn>
  auto with_s3(Fn&& fn) -> decltype(fn(std::declval<S3Client&>())) {
    return with_client<S3Client>(std::forward<Fn>(fn));
  }
  template <class Fn>
  auto with_sqs(Fn&& fn) -> decltype(fn(std::declval<SqsClient&>())) {
    return with_client<SqsClient>(std::forward<Fn>(fn));
  }
  /// Whether the credentials are still accepted. A request may be refused by good ones, too.
  Result<std::string> account() const;

 private:
  template <class Client, class Fn>
  auto with_client(Fn&& fn) -> decltype(fn(std::declval<Client&>())) {
    auto caller = idle_.with([](auto& idle) -> std::unique_ptr<AwsCaller> {
      if (idle.empty()) return nullptr;
      auto latest = std::move(idle.back());
      idle.pop_back();
      return latest;
    });
    if (!caller) {
      auto opened = TRY(AwsCaller::open(credentials_, go_on_));
      caller = std::make_unique<AwsCaller>(std::move(opened));
    }
    Client client(*caller, location_);
    auto answer = fn(client);
    idle_.with([&](auto& idle) { idle.push_back(std::move(caller)); });
    return answer;
  }

  const std::shared_ptr<CredentialSource> credentials_;
  const AwsLocation location_;
  const std::function<bool()> go_on_;
  Guarded<std::vector<std::unique_ptr<AwsCaller>>> idle_{};
};

/// A pool with the credentials, the region and the server that AWS's own tools would take: environment, profile, roles.
/// They are looked for when it is first needed. Thread-safe.
class UsualCallers {
 public:
  /// `go_on` as AwsCaller::open; outlives this.
  explicit UsualCallers(std::function<bool()> go_on) : go_on_(std::move(go_on)) {}

  /// Fault::usage where no region is named. It lasts as long as this.
  Result<CallerPool*> pool();

 private:
  const std::function<bool()> go_on_;
  Guarded<std::unique_ptr<CallerPool>> pool_{};
};

}  // namespace tutti
