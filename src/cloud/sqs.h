#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cloud/aws_caller.h"
#include "cloud/aws_request.h"
#include "cloud/queue_url.h"

namespace tutti {

/// How a queue for jobs is set up; the defaults are field note 001's.
struct QueueSettings {
  std::int64_t retention_seconds = 14 * 24 * 3600;
  std::int64_t visibility_seconds = 1800;  // a message is one worker's for so long, unless it is renewed
  std::int64_t wait_seconds = 20;          // a receive waits so long for a message
  std::int64_t most_receives = 3;          // then it goes to the dead letters
};

/// A queue as SQS describes it. The counts are approximate, as it documents.
struct QueueFacts {
  QueueSettings settings{};
  std::int64_t waiting = 0;
  std::int64_t in_flight = 0;  // received, and not deleted yet
  std::int64_t delayed = 0;
  std::string arn{};
  std::string dead_letters_arn{};  // empty: the queue has none
};

/// A message as a receive gives it.
struct ReceivedMessage {
  std::string id{};
  std::string receipt{};  // names this receive: what changes or deletes the message carries it
  std::string body{};
  int receives = 1;  // of this message so far, this one included
};

/// A client of Amazon SQS (its JSON protocol) or of a server that speaks it. One thread at a time.
class SqsClient {
 public:
  SqsClient(AwsCaller& caller, AwsLocation location) : caller_(caller), location_(std::move(location)) {}

  /// Makes a queue, or finds it with the very same settings, and returns its URL. `dead_letters_arn` empty: none.
  /// Fault::refused where one of that name is set up otherwise.
  Result<std::string> create(const std::string& name, const QueueSettings& settings,
                             const std::string& dead_letters_arn);
  /// The queue of that name. Fault::missing where there is none.
  Result<QueueUrl> find(const std::string& name);
  Result<QueueFacts> facts(const QueueUrl& queue);
  /// Puts a message in and returns the id that SQS gave it. `attributes`: beside the body, texts that are not empty.
  Result<std::string> send(const QueueUrl& queue, const std::string& body,
                           const std::map<std::string, std::string>& attributes = {});

  /// Up to `most` messages (SQS gives ten at once), each hidden from others for `visibility_seconds` from now. Waits up
  /// to `wait_seconds` for the first one.
  Result<std::vector<ReceivedMessage>> receive(const QueueUrl& queue, int most, std::int64_t wait_seconds,
                                               std::int64_t visibility_seconds);
  /// Hides a received message for so long from now; 0: it may be received at once. False: the receipt is not good any
  /// more, because the message was visible again meanwhile or is deleted.
  Result<bool> set_visibility(const QueueUrl& queue, const std::string& receipt, std::int64_t seconds);
  /// Deletes a received message. What AWS documents: with an old receipt that may do nothing, and is no error.
  Result<void> remove(const QueueUrl& queue, const std::string& receipt);

 private:
  Result<nlohmann::json> call(const char* action, const nlohmann::json& body, const std::string& thing);

  AwsCaller& caller_;
  AwsLocation location_;
};

/// Fault::usage where SQS takes no queue of this name.
Result<void> check_queue_name(const std::string& name);

}  // namespace tutti
