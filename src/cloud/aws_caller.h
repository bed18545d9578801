#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "cloud/aws_answer.h"
#include "cloud/aws_request.h"
#include "cloud/credential_source.h"
#include "cloud/signature.h"
#include "net/http.h"

namespace tutti {

/// Signs requests, sends them and tries again what passes: up to five attempts, with pauses that grow and vary, and
/// once more with new credentials where the old ones have expired. One thread at a time; several may share the
/// credentials.
class AwsCaller {
 public:
  /// `go_on`, called about once a second, ends requests and pauses by false. An error only where libcurl is not there.
  static Result<AwsCaller> open(std::shared_ptr<CredentialSource> credentials, std::function<bool()> go_on);

  /// The answer, which has a status below 300. `thing` is what the request is about, for errors.
  Result<FetchedAnswer> call(const SigningScope& scope, const AwsRequest& request, const std::string& thing);

  /// One attempt where the body goes to `sink` as it comes; nothing of another answer does.
  struct Streamed {
    HttpReply reply{};
    AwsError error{};  // where the answer was not the wanted one
    bool failed = false;
  };
  Streamed stream(const SigningScope& scope, const AwsRequest& request, const std::string& thing, const HttpSink& sink);

  /// What the latest call ended with, where that was no wanted answer: its status and code decide what it means.
  const AwsError& last_error() const { return last_error_; }
  /// Waits before attempt `failures` + 1; false where there is to be none, or `go_on` ended it.
  bool pause(const AwsError& error, const HttpReply& reply, int failures);

 private:
  AwsCaller(std::shared_ptr<CredentialSource> credentials, std::function<bool()> go_on, Http http)
      : credentials_(std::move(credentials)), go_on_(std::move(go_on)), http_(std::move(http)) {}

  std::shared_ptr<CredentialSource> credentials_;
  std::function<bool()> go_on_;
  Http http_;
  AwsError last_error_{};
  Credentials expired_{};  // that a service refused; their access key is empty before
};

/// The account whose credentials they are, "123456789012". Requests GetCallerIdentity of STS within ten seconds:
/// whether requests will be accepted at all, before any work begins. Fault::unavailable where it did not answer in
/// time.
Result<std::string> caller_account(const std::shared_ptr<CredentialSource>& credentials, const AwsLocation& location,
                                   const std::function<bool()>& go_on);

}  // namespace tutti
