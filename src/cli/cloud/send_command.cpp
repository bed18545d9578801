#include <chrono>
#include <cstdio>

#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/time_text.h"
#include "cli/cloud/cloud_flags.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cloud/job_message.h"
#include "cloud/sqs.h"

namespace tutti {
namespace {

struct SendCommand {
  JobMessage message{};
  std::string queue_url{};
  CloudFlags cloud{};
  bool json = false;
};

void add_send(OptionTable& table, SendCommand& c) {
  table.add("s3-input-path", c.message.s3_input_path, "S3PATH", "the recording, as in s3://bucket/audio/file.mp3")
      .letter = 'i';
  table
      .add("s3-output-path", c.message.s3_output_path, "S3PATH",
           "where its transcript goes, as in s3://bucket/transcripts/file.json")
      .letter = 'o';
  table
      .add("estimated-duration-seconds", c.message.estimated_duration_seconds, "SECONDS",
           "about how long the recording is; of equal priorities, longer ones are begun first")
      .letter = 'd';
  table.add("priority", c.message.priority, "N", "1, the highest, to 5").letter = 'p';
  table.add("queue-url", c.queue_url, "URL", "the queue; without it that of QUEUE_URL").letter = 'q';
  add_cloud(table, c.cloud);
  table.add_switch("json", c.json, "print the message and its id as one JSON object");
  table.examples(
      {"tutti send -i s3://talks/audio/monday.mp3 -o s3://talks/transcripts/monday.json -q "
       "https://sqs.us-east-1.amazonaws.com/123456789012/jobs",
       "tutti send -i s3://talks/a.flac -o s3://talks/a.json -d 3600 -p 2"});
}

void print_sent(const SendCommand& command, const QueueUrl& queue, const std::string& id) {
  const JobMessage& message = command.message;
  if (command.json) {
    auto line = nlohmann::ordered_json::parse(message_json(message));
    line["message_id"] = id;
    line["queue_url"] = queue.url;
    std::printf("%s\n", json_line(line).c_str());
    return;
  }
  std::printf(
      "Job ID: %s\nS3 Input Path: %s\nS3 Output Path: %s\nEstimated Duration: %s seconds\nPriority: %d\n"
      "Message ID: %s\nQueue URL: %s\n",
      message.job_id.c_str(), message.s3_input_path.c_str(), message.s3_output_path.c_str(),
      number_text(message.estimated_duration_seconds).c_str(), message.priority, id.c_str(), queue.url.c_str());
}

}  // namespace

int run_send(const std::vector<std::string>& arguments) {
  SendCommand command;
  OptionTable table("send",
                    "Put a recording that is in S3 into an SQS queue, for the machines that work on it. Prints the "
                    "job's id. Nothing is looked for in S3: a recording that is not there becomes a dead letter.");
  add_send(table, command);
  if (const auto code = start_command(table, arguments)) return *code;
  for (const auto& [flag, value] :
       {std::pair("-i", &command.message.s3_input_path), std::pair("-o", &command.message.s3_output_path)})
    if (value->empty())
      return complain({Fault::usage, std::string("expected ") + flag + " s3://BUCKET/KEY", "See 'tutti send --help'"});
  command.message.job_id = random_uuid();
  command.message.submitted_at = utc_text(std::chrono::system_clock::now());
  if (const auto valid = check_message(command.message); !valid) return complain(valid.error());
  const auto queue = queue_of(command.queue_url);
  if (!queue) return complain(queue.error());

  Interrupt interrupt;
  auto access = open_cloud(command.cloud, *queue, interrupt);
  if (!access) return complain(access.error());
  const auto id = SqsClient(*access->caller, access->location).send(*queue, message_json(command.message));
  if (!id) return complain(id.error(), interrupt);
  print_sent(command, *queue, *id);
  return kDone;
}

}  // namespace tutti
