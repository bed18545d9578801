#include "cloud/sqs.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "cloud/aws_answer.h"

namespace tutti {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestName = 80;
constexpr int kMostReceived = 10;

/// SQS writes numbers as texts.
std::int64_t number_of(const json& attributes, const char* key) {
  return number_in<std::int64_t>(json_text(attributes, key)).value_or(0);
}

json attributes_of(const QueueSettings& settings, const std::string& dead_letters_arn) {
  json attributes{{"MessageRetentionPeriod", std::to_string(settings.retention_seconds)},
                  {"VisibilityTimeout", std::to_string(settings.visibility_seconds)},
                  {"ReceiveMessageWaitTimeSeconds", std::to_string(settings.wait_seconds)}};
  if (!dead_letters_arn.empty())
    attributes["RedrivePolicy"] = json_line(
        json{{"deadLetterTargetArn", dead_letters_arn}, {"maxReceiveCount", std::to_string(settings.most_receives)}});
  return attributes;
}

/// What SQS and servers of its protocol answer where a receipt is not that of the latest receive, or the message has
/// gone.
bool is_old_receipt(const std::string& code) {
  return code.find("ReceiptHandleIsInvalid") != std::string::npos ||
         code.find("MessageNotInflight") != std::string::npos ||
         code.find("InvalidParameterValue") != std::string::npos;
}

/// maxReceiveCount is a number or a text, as it was set.
std::int64_t most_receives_of(const json& policy) {
  const auto count = policy.is_object() ? policy.value("maxReceiveCount", json()) : json();
  if (count.is_number_integer()) return count.get<std::int64_t>();
  return count.is_string() ? number_in<std::int64_t>(count.get<std::string>()).value_or(0) : 0;
}

QueueFacts facts_of(const json& attributes) {
  const json policy = json::parse(json_text(attributes, "RedrivePolicy"), nullptr, false);
  return {.settings = {.retention_seconds = number_of(attributes, "MessageRetentionPeriod"),
                       .visibility_seconds = number_of(attributes, "VisibilityTimeout"),
                       .wait_seconds = number_of(attributes, "ReceiveMessageWaitTimeSeconds"),
                       .most_receives = most_receives_of(policy)},
          .waiting = number_of(attributes, "ApproximateNumberOfMessages"),
          .in_flight = number_of(attributes, "ApproximateNumberOfMessagesNotVisible"),
          .delayed = number_of(attributes, "ApproximateNumberOfMessagesDelayed"),
          .arn = json_text(attributes, "QueueArn"),
          .dead_letters_arn = policy.is_object() ? json_text(policy, "deadLetterTargetArn") : ""};
}

}  // namespace

Result<json> SqsClient::call(const char* action, const json& body, const std::string& thing) {
  const AwsRequest request{
      .method = "POST",
      .origin = service_origin("sqs", location_.region, location_.endpoint_url),
      .headers = {{"Content-Type", "application/x-amz-json-1.0"}, {"X-Amz-Target", std::string("AmazonSQS.") + action}},
      .body = json_line(body)};
  const auto answer = TRY(caller_.call({"sqs", location_.region}, request, thing));
  auto parsed = json::parse(answer.body, nullptr, false);
  if (!parsed.is_object())
    return fail(Fault::corrupt, thing + ": expected JSON from " + request.origin + ", found something else",
                "Check the endpoint: it must speak the JSON protocol of SQS");
  return parsed;
}

Result<std::string> SqsClient::create(const std::string& name, const QueueSettings& settings,
                                      const std::string& dead_letters_arn) {
  auto made = TRY(call("CreateQueue", {{"QueueName", name}, {"Attributes", attributes_of(settings, dead_letters_arn)}},
                       "queue " + name));
  return json_text(made, "QueueUrl");
}

Result<QueueUrl> SqsClient::find(const std::string& name) {
  auto found = TRY(call("GetQueueUrl", {{"QueueName", name}}, "queue " + name));
  return parse_queue_url(json_text(found, "QueueUrl"));
}

Result<QueueFacts> SqsClient::facts(const QueueUrl& queue) {
  auto answer =
      TRY(call("GetQueueAttributes", {{"QueueUrl", queue.url}, {"AttributeNames", {"All"}}}, "queue " + queue.name));
  return facts_of(answer.value("Attributes", json::object()));
}

Result<std::string> SqsClient::send(const QueueUrl& queue, const std::string& body,
                                    const std::map<std::string, std::string>& attributes) {
  json request{{"QueueUrl", queue.url}, {"MessageBody", body}};
  for (const auto& [name, value] : attributes)
    if (!value.empty()) request["MessageAttributes"][name] = {{"DataType", "String"}, {"StringValue", value}};
  auto sent = TRY(call("SendMessage", request, "queue " + queue.name));
  return json_text(sent, "MessageId");
}

Result<std::vector<ReceivedMessage>> SqsClient::receive(const QueueUrl& queue, int most, std::int64_t wait_seconds,
                                                        std::int64_t visibility_seconds) {
  const json request{{"QueueUrl", queue.url},
                     {"MaxNumberOfMessages", std::clamp(most, 1, kMostReceived)},
                     {"WaitTimeSeconds", wait_seconds},
                     {"VisibilityTimeout", visibility_seconds},
                     {"AttributeNames", {"ApproximateReceiveCount"}},
                     {"MessageSystemAttributeNames", {"ApproximateReceiveCount"}}};
  const auto answer = TRY(call("ReceiveMessage", request, "queue " + queue.name));
  std::vector<ReceivedMessage> messages;
  const json received = answer.value("Messages", json::array());
  for (const json& entry : received) {
    if (!entry.is_object()) continue;
    const auto receives = number_of(entry.value("Attributes", json::object()), "ApproximateReceiveCount");
    messages.push_back({.id = json_text(entry, "MessageId"),
                        .receipt = json_text(entry, "ReceiptHandle"),
                        .body = json_text(entry, "Body"),
                        .receives = static_cast<int>(std::max<std::int64_t>(1, receives))});
  }
  return messages;
}

Result<bool> SqsClient::set_visibility(const QueueUrl& queue, const std::string& receipt, std::int64_t seconds) {
  const auto answer = call("ChangeMessageVisibility",
                           {{"QueueUrl", queue.url}, {"ReceiptHandle", receipt}, {"VisibilityTimeout", seconds}},
                           "queue " + queue.name);
  if (answer) return true;
  if (is_old_receipt(caller_.last_error().code)) return false;
  return tl::unexpected(answer.error());
}

Result<void> SqsClient::remove(const QueueUrl& queue, const std::string& receipt) {
  const auto answer =
      call("DeleteMessage", {{"QueueUrl", queue.url}, {"ReceiptHandle", receipt}}, "queue " + queue.name);
  if (answer || is_old_receipt(caller_.last_error().code)) return {};
  return tl::unexpected(answer.error());
}

Result<void> check_queue_name(const std::string& name) {
  const auto takes = [](char c) {
    return is_ascii_alphabetic(c) || is_ascii_digit(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  if (!name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, takes)) return {};
  return fail(Fault::usage, "'" + without_controls(name) + "': a queue's name has 1 to 80 letters, digits, '-' and '_'",
              name.ends_with(".fifo") ? "A FIFO queue would let one worker work at a time: take a standard one" : "");
}

}  // namespace tutti
