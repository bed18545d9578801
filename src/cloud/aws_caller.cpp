#include "cloud/aws_caller.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/log.h"
#include "base/numbers.h"
#include "base/random/kernel_random.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr int kAttempts = 5;
constexpr Seconds kFirstPause{0.2}, kLongestPause{20};
constexpr std::size_t kMostBytes = 8U << 20;  // of an answer that is no object

/// Even between half and all of what doubles from attempt to attempt, so that many clients do not come back at once.
Seconds pause_before(int failures) {
  const Seconds whole = std::min(kFirstPause * (1 << std::min(failures - 1, 10)), kLongestPause);
  return whole * (0.5 + random_fraction() / 2);
}

HttpRequest http_request(const AwsRequest& request, const SigningScope& scope, const Credentials& credentials) {
  HttpRequest sent{.url = request.origin + target_of(request), .method = request.method};
  for (const auto& [name, value] : signed_headers(request, credentials, scope, std::chrono::system_clock::now()))
    if (name != "host") sent.headers.push_back(name + ": " + value);  // libcurl sends the same one
  if (request.method != "GET" && request.method != "HEAD") {
    sent.headers.emplace_back("Expect:");  // without waiting for "100 Continue"
    // libcurl's own type of a body would not be signed.
    if (std::ranges::find(request.headers, "content-type", [](const auto& h) { return ascii_lower(h.first); }) ==
        request.headers.end())
      sent.headers.emplace_back("Content-Type:");
    sent.body = request.body;
  }
  return sent;
}

constexpr std::chrono::seconds kLongest{10};

}  // namespace

Result<AwsCaller> AwsCaller::open(std::shared_ptr<CredentialSource> credentials, std::function<bool()> go_on) {
  auto http = TRY(Http::load());
  return AwsCaller(std::move(credentials), std::move(go_on), std::move(http));
}

AwsCaller::Streamed AwsCaller::stream(const SigningScope& scope, const AwsRequest& request, const std::string& thing,
                                      const HttpSink& sink) {
  Streamed streamed;
  const auto credentials = expired_.access_key.empty() ? credentials_->current() : credentials_->instead_of(expired_);
  if (!credentials) {
    streamed.failed = true;
    streamed.error.error = credentials.error();
    return streamed;
  }
  FetchedAnswer answer;
  const auto take = [&](const HttpReply& head, std::string_view piece) {
    if (head.status < 300) return sink(head, piece);
    answer.body += piece;
    return answer.body.size() <= kMostBytes;
  };
  answer.reply = http_.get(http_request(request, scope, *credentials), take, go_on_);
  streamed.reply = answer.reply;
  streamed.failed = answer.reply.status < 200 || answer.reply.status >= 300 || !answer.reply.failure.empty();
  const bool was_renewed = !expired_.access_key.empty();
  expired_ = {};
  if (!streamed.failed) return streamed;
  streamed.error = aws_error(answer, thing, scope.region, credentials->source);
  if (streamed.error.remedy == AwsError::Remedy::new_credentials) {
    if (was_renewed)
      streamed.error.remedy = AwsError::Remedy::none;  // the new ones are refused, too
    else
      expired_ = *credentials;
  }
  if (!go_on_()) streamed.error.error = {Fault::cancelled, thing + ": it was stopped", ""};
  return streamed;
}

bool AwsCaller::pause(const AwsError& error, const HttpReply& reply, int failures) {
  if (!go_on_() || error.remedy == AwsError::Remedy::none) return false;
  if (error.remedy == AwsError::Remedy::new_credentials) return true;
  if (failures >= kAttempts) return false;
  Seconds wait = pause_before(failures);
  if (const auto requested = number_in<int>(reply.header("retry-after")))
    wait = std::clamp(Seconds(*requested), wait, kLongestPause);
  if (failures >= 2) log(Level::warning, error.error.what + "; trying again");
  const auto end = std::chrono::steady_clock::now() + wait;
  while (go_on_() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::min<Seconds>(Seconds(0.1), end - std::chrono::steady_clock::now()));
  return go_on_();
}

Result<FetchedAnswer> AwsCaller::call(const SigningScope& scope, const AwsRequest& request, const std::string& thing) {
  for (int failures = 1;; ++failures) {
    FetchedAnswer answer;
    auto streamed = stream(scope, request, thing, [&](const HttpReply&, std::string_view piece) {
      answer.body += piece;
      return answer.body.size() <= kMostBytes;
    });
    answer.reply = std::move(streamed.reply);
    last_error_ = streamed.failed ? streamed.error : AwsError{};
    if (!streamed.failed) return answer;
    if (!pause(streamed.error, answer.reply, failures)) return tl::unexpected(std::move(streamed.error.error));
  }
}

Result<std::string> caller_account(const std::shared_ptr<CredentialSource>& credentials, const AwsLocation& location,
                                   const std::function<bool()>& go_on) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  auto caller =
      TRY(AwsCaller::open(credentials, [&go_on, end] { return go_on() && std::chrono::steady_clock::now() < end; }));
  const AwsRequest request{.method = "POST",
                           .origin = service_origin("sts", location.region, location.endpoint_url),
                           .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
                           .body = "Action=GetCallerIdentity&Version=2011-06-15"};
  const std::string thing = "the check of the credentials by STS";
  const auto answer = caller.call({"sts", location.region}, request, thing);
  if (!answer && answer.error().fault == Fault::cancelled && go_on())
    return fail(Fault::unavailable, thing + ": no answer within 10 s",
                "Check the network, a proxy (https_proxy) and the endpoint");
  if (!answer) return tl::unexpected(answer.error());
  std::string account = xml_text(answer->body, "Account");
  if (account.empty())
    return fail(Fault::corrupt, thing + ": expected an account, found another answer", "Check the endpoint");
  return account;
}

}  // namespace tutti
