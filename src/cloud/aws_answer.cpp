#include "cloud/aws_answer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};

std::string without_entities(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [name, character] : kEntities)
      if (c == '&' && taken == 1 && text.starts_with(name)) {
        taken = name.size();
        plain += character;
      }
    if (taken == 1) plain += c;
    text.remove_prefix(taken);
  }
  return plain;
}

using Remedy = AwsError::Remedy;

constexpr std::size_t kMostOfMessage = 300;  // characters of the service's own words

struct Answered {
  std::string code{};
  std::string message{};
  std::string region{};  // of the bucket, where the answer names it
};

/// "com.amazonaws.sqs#QueueDoesNotExist" is QueueDoesNotExist.
std::string bare_code(const std::string& type) {
  const auto mark = type.rfind('#');
  return mark == std::string::npos ? type : type.substr(mark + 1);
}

Answered read_answer(const FetchedAnswer& answer) {
  Answered read;
  if (const auto json = nlohmann::json::parse(answer.body, nullptr, false); json.is_object()) {
    read = {bare_code(json_text(json, "__type")), json_text(json, "message") + json_text(json, "Message"), ""};
  } else {
    read = {xml_text(answer.body, "Code"), xml_text(answer.body, "Message"), xml_text(answer.body, "Region")};
  }
  if (const auto region = answer.reply.header("x-amz-bucket-region"); !region.empty()) read.region = region;
  read.message = without_controls(read.message.substr(0, kMostOfMessage));
  while (read.message.ends_with('.')) read.message.pop_back();
  return read;
}

template <std::size_t N>
bool is_among(const std::string& code, const std::array<std::string_view, N>& codes) {
  return std::ranges::find(codes, code) != codes.end();
}

bool is_throttled(int status, const std::string& code) {
  constexpr std::array<std::string_view, 9> kCodes{
      "Throttling",       "ThrottlingException",       "ThrottledException",
      "RequestThrottled", "RequestThrottledException", "TooManyRequestsException",
      "SlowDown",         "RequestLimitExceeded",      "BandwidthLimitExceeded"};
  return status == 429 || is_among(code, kCodes);
}

bool is_expired(const std::string& code) {
  return is_among(code, std::array<std::string_view, 4>{"ExpiredToken", "ExpiredTokenException", "RequestExpired",
                                                        "TokenRefreshRequired"});
}

bool is_unknown_key(const std::string& code) {
  return is_among(code, std::array<std::string_view, 4>{"InvalidAccessKeyId", "UnrecognizedClientException",
                                                        "InvalidClientTokenId", "InvalidToken"});
}

bool is_missing(int status, const std::string& code) {
  return status == 404 ||
         is_among(code, std::array<std::string_view, 5>{"QueueDoesNotExist", "NoSuchKey", "NoSuchBucket",
                                                        "AWS.SimpleQueueService.NonExistentQueue", "NonExistentQueue"});
}

Error wrong_region(const std::string& thing, const std::string& region, const std::string& actual) {
  return {Fault::usage, thing + ": it is in region " + actual + ", and the request was for " + region,
          "Name the region " + actual};
}

Error refused(const std::string& thing, int status, const Answered& read, const std::string& source) {
  if (is_expired(read.code))
    return {Fault::refused, thing + ": the credentials of " + source + " have expired",
            "Renew them, e.g. by 'aws sso login', or export new ones"};
  if (is_unknown_key(read.code))
    return {Fault::refused, thing + ": the access key of " + source + " is not known there",
            "Check the credentials: 'aws sts get-caller-identity' has to accept them"};
  if (read.code == "SignatureDoesNotMatch")
    return {Fault::refused,
            thing + ": the signature does not match: the secret key of " + source +
                " is another than that of its access key",
            "Check the secret key and AWS_SESSION_TOKEN"};
  if (read.code == "RequestTimeTooSkewed")
    return {Fault::refused, thing + ": this machine's clock differs too much from the service's",
            "Set the clock (timedatectl set-ntp true)"};
  if (read.code == "QueueNameExists" || read.code == "QueueAlreadyExists")
    return {Fault::refused, thing + ": it is there already, with other settings",
            "Take another name, or change that queue with AWS's own tools"};
  if (status == 403)
    return {Fault::refused,
            thing + ": access is denied to the credentials of " + source +
                (read.message.empty() || read.message == "Access Denied" ? "" : " (" + read.message + ")"),
            "Let their user or role do this, or use other credentials"};
  return {Fault::refused, thing + ": the service refused it with status " + std::to_string(status) +
                              (read.code.empty() ? "" : " " + read.code) +
                              (read.message.empty() ? "" : ": " + read.message)};
}

}  // namespace

std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view element) {
  const std::string open = "<" + std::string(element), close = "</" + std::string(element) + ">";
  std::vector<std::string_view> found;
  for (std::size_t at = xml.find(open); at != xml.npos; at = xml.find(open, at + 1)) {
    const std::size_t end_of_name = at + open.size();
    const bool whole_name = end_of_name < xml.size() && (xml[end_of_name] == '>' || xml[end_of_name] == ' ');
    const auto begin = whole_name ? xml.find('>', end_of_name) : xml.npos;
    const auto end = begin == xml.npos ? xml.npos : xml.find(close, begin);
    if (end != xml.npos) found.push_back(xml.substr(begin + 1, end - begin - 1));
  }
  return found;
}

std::string xml_text(std::string_view xml, std::string_view element) {
  const auto elements = xml_elements(xml, element);
  return elements.empty() ? "" : without_entities(elements.front());
}

std::string json_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

AwsError aws_error(const FetchedAnswer& answer, const std::string& thing, const std::string& region,
                   const std::string& source) {
  const int status = answer.reply.status;
  const Answered read = read_answer(answer);
  const auto as = [&](Error error, Remedy remedy = Remedy::none) {
    return AwsError{std::move(error), remedy, status, read.code};
  };
  if (status == 0 || !answer.reply.failure.empty())
    return as({Fault::unavailable, thing + ": no whole answer came: " + without_controls(answer.reply.failure),
               "Check the network, a proxy (https_proxy), the region and the endpoint"},
              Remedy::another_try);
  if (is_throttled(status, read.code) || status == 503)
    return as(
        {Fault::unavailable, thing + ": the service is throttled" + (read.code.empty() ? "" : " (" + read.code + ")"),
         "Try again later, with fewer requests at once"},
        Remedy::another_try);
  if (status >= 500 || status == 408 || read.code == "ConditionalRequestConflict" || read.code == "OperationAborted" ||
      read.code == "RequestTimeout")
    return as({Fault::unavailable,
               thing + ": the service answered with status " + std::to_string(status) +
                   (read.code.empty() ? "" : " " + read.code),
               "Try again later"},
              Remedy::another_try);
  if (!read.region.empty() && read.region != region && status != 404)
    return as(wrong_region(thing, region, read.region));
  if (is_missing(status, read.code))
    return as({Fault::missing,
               thing + (read.code == "NoSuchBucket" ? ": there is no such bucket" : ": it is not there") + " (region " +
                   region + ")",
               "Check the name, the region and the endpoint"});
  return as(refused(thing, status, read, source), is_expired(read.code) ? Remedy::new_credentials : Remedy::none);
}

}  // namespace tutti
