#include <cstdio>
#include <optional>

#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/cloud/cloud_flags.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cloud/sqs.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

struct QueueCommand {
  std::vector<std::string> words{};
  std::string queue_url{};
  double retention_days = 14;
  std::int32_t visibility = 1800;
  std::int32_t wait = 20;
  std::int32_t max_receives = 3;
  CloudFlags cloud{};
  bool json = false;

  bool creates() const { return words[0] == "create"; }
  std::string name() const { return words.size() > 1 ? words[1] : ""; }
};

constexpr double kDay = 24 * 3600;

OptionTable table_of(QueueCommand& command) {
  OptionTable table("queue",
                    "Queues of Amazon SQS for jobs. 'create NAME' makes one with its dead letters, NAME-dead-letters, "
                    "and prints its URL; a queue that is there with the same settings is left as it is. 'status NAME' "
                    "prints how many jobs wait, are in work and failed. Credentials are looked for where AWS's own "
                    "tools do, and checked first.");
  table.positional(command.words, "ACTION NAME", "create or status, and the queue's name (status: or --queue-url)");
  table.add("queue-url", command.queue_url, "URL", "status: the queue; without it NAME's, or that of QUEUE_URL")
      .letter = 'q';
  table.group("Settings of a new queue");
  table.add("retention", command.retention_days, "DAYS", "days that a message is kept, 14 at most");
  table.add("visibility", command.visibility, "SECONDS",
            "a message that was received is hidden for so long; who works on it renews that");
  table.add("wait", command.wait, "SECONDS", "a receive waits for so long until a message comes, 20 at most");
  table.add("max-receives", command.max_receives, "N",
            "a message that was received so often without being deleted goes to the dead letters");
  table.group("Account and server");
  add_cloud(table, command.cloud);
  table.add_switch("json", command.json, "print one JSON object");
  table.examples({"tutti queue create jobs --region us-east-1",
                  "tutti queue status -q https://sqs.us-east-1.amazonaws.com/123456789012/jobs"});
  return table;
}

QueueSettings settings_of(const QueueCommand& command) {
  return {.retention_seconds = static_cast<std::int64_t>(command.retention_days * kDay),
          .visibility_seconds = command.visibility,
          .wait_seconds = command.wait,
          .most_receives = command.max_receives};
}

/// The limits are SQS's (docs.aws.amazon.com, CreateQueue).
Result<void> check_settings(const QueueCommand& command) {
  constexpr double kMinute = 60;
  const FlagRange ranges[] = {{"--retention", command.retention_days, kMinute / kDay, 14},
                              {"--visibility", static_cast<double>(command.visibility), 1, 43'200},
                              {"--wait", static_cast<double>(command.wait), 0, 20},
                              {"--max-receives", static_cast<double>(command.max_receives), 1, 1000}};
  return expect_ranges(ranges);
}

Result<void> check(const QueueCommand& command) {
  const bool known = command.words[0] == "create" || command.words[0] == "status";
  if (!known || command.words.size() > 2)
    return fail(Fault::usage, "expected 'create NAME' or 'status NAME', found '" + joined(command.words, " ") + "'",
                "See 'tutti queue --help'");
  if (command.creates() && command.name().empty())
    return fail(Fault::usage, "expected a name behind 'create'", "As in 'tutti queue create jobs'");
  if (command.creates() && !command.queue_url.empty())
    return fail(Fault::usage, "--queue-url belongs to 'status'", "A new queue gets its URL from SQS");
  if (!command.name().empty())
    if (auto named = check_queue_name(command.name()); !named) return named;
  return check_settings(command);
}

Json json_of(const std::string& url, const QueueFacts& facts) {
  return {{"queue_url", url},
          {"arn", facts.arn},
          {"waiting", facts.waiting},
          {"in_flight", facts.in_flight},
          {"delayed", facts.delayed},
          {"retention_seconds", facts.settings.retention_seconds},
          {"visibility_seconds", facts.settings.visibility_seconds},
          {"wait_seconds", facts.settings.wait_seconds},
          {"max_receives", facts.settings.most_receives}};
}

std::string days_text(std::int64_t seconds) {
  return std::to_string(seconds / static_cast<std::int64_t>(kDay)) + " d";
}

/// The last part of an ARN is the queue's name.
std::string name_in(const std::string& arn) {
  return arn.substr(arn.rfind(':') + 1);
}

/// `dead`: how many dead letters there are; none: they are not known.
void print_status(const std::string& url, const QueueFacts& facts, const std::optional<QueueFacts>& dead) {
  std::printf("%s\n%lld waiting, %lld in work, %lld delayed\n", url.c_str(), static_cast<long long>(facts.waiting),
              static_cast<long long>(facts.in_flight), static_cast<long long>(facts.delayed));
  std::printf("messages are kept for %s, hidden for %lld s, waited for %lld s\n",
              days_text(facts.settings.retention_seconds).c_str(),
              static_cast<long long>(facts.settings.visibility_seconds),
              static_cast<long long>(facts.settings.wait_seconds));
  if (facts.dead_letters_arn.empty())
    std::puts("no dead letters: what fails comes again for as long as it is kept");
  else
    std::printf("%s dead letters in %s, after %lld receives\n",
                dead ? std::to_string(dead->waiting + dead->in_flight).c_str() : "an unknown number of",
                name_in(facts.dead_letters_arn).c_str(), static_cast<long long>(facts.settings.most_receives));
}

/// The facts of the queue that dead letters go to, where this account has it; none: it cannot be looked into.
std::optional<QueueFacts> dead_letters_of(SqsClient& sqs, const QueueFacts& facts) {
  if (facts.dead_letters_arn.empty()) return std::nullopt;
  const auto queue = sqs.find(name_in(facts.dead_letters_arn));
  auto dead = queue ? sqs.facts(*queue) : tl::unexpected<Error>(queue.error());
  if (!dead) return std::nullopt;
  return *dead;
}

Result<void> create(SqsClient& sqs, const QueueCommand& command) {
  const QueueSettings settings = settings_of(command);
  QueueSettings of_dead = settings;
  of_dead.retention_seconds = QueueSettings{}.retention_seconds;
  const auto dead_url = TRY(sqs.create(command.name() + "-dead-letters", of_dead, ""));
  const auto dead_queue = TRY(parse_queue_url(dead_url));
  const auto dead = TRY(sqs.facts(dead_queue));
  const auto url = TRY(sqs.create(command.name(), settings, dead.arn));
  if (command.json)
    std::printf("%s\n", json_line(Json{{"queue_url", url}, {"dead_letters_url", dead_url}}).c_str());
  else
    std::printf("%s\n%s (dead letters)\n", url.c_str(), dead_url.c_str());
  return {};
}

Result<void> status(SqsClient& sqs, const QueueCommand& command, const QueueUrl& given) {
  QueueUrl queue = given;
  if (queue.url.empty()) queue = TRY(sqs.find(command.name()));
  const auto facts = TRY(sqs.facts(queue));
  const auto dead = dead_letters_of(sqs, facts);
  if (command.json) {
    Json line = json_of(queue.url, facts);
    line["dead_letters"] = dead ? Json(dead->waiting + dead->in_flight) : Json();
    line["dead_letters_arn"] = facts.dead_letters_arn.empty() ? Json() : Json(facts.dead_letters_arn);
    std::printf("%s\n", json_line(line).c_str());
  } else {
    print_status(queue.url, facts, dead);
  }
  return {};
}

}  // namespace

int run_queue(const std::vector<std::string>& arguments) {
  QueueCommand command;
  OptionTable table = table_of(command);
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto valid = check(command); !valid) return complain(valid.error());
  QueueUrl queue;
  if (!command.creates() && (command.name().empty() || !command.queue_url.empty())) {
    const auto named = queue_of(command.queue_url);
    if (!named) return complain(named.error());
    queue = *named;
  }

  Interrupt interrupt;
  auto access = open_cloud(command.cloud, queue, interrupt);
  if (!access) return complain(access.error());
  const auto identity = checked_identity(*access, interrupt);
  if (!identity) return complain(identity.error(), interrupt);
  std::fprintf(stderr, "%s\n", identity->c_str());
  SqsClient sqs(*access->caller, access->location);
  const auto done = command.creates() ? create(sqs, command) : status(sqs, command, queue);
  return done ? kDone : complain(done.error(), interrupt);
}

}  // namespace tutti
