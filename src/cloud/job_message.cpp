#include "cloud/job_message.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/numbers.h"
#include "base/random/kernel_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "cloud/aws_answer.h"
#include "cloud/queue_url.h"

namespace tutti {

std::string message_json(const JobMessage& message) {
  const nlohmann::ordered_json json{{"schema_version", kJobMessageVersion},
                                    {"job_id", message.job_id},
                                    {"s3_input_path", message.s3_input_path},
                                    {"s3_output_path", message.s3_output_path},
                                    {"estimated_duration_seconds", message.estimated_duration_seconds},
                                    {"priority", message.priority},
                                    {"retry_count", message.retry_count},
                                    {"submitted_at", message.submitted_at}};
  return json_line(json);
}

namespace {

constexpr std::size_t kLongestId = 128;
constexpr std::size_t kShown = 80;  // characters of what was found instead

/// It names objects of S3.
bool is_job_id(const std::string& id) {
  const auto takes = [](char c) {
    return is_ascii_alphabetic(c) || is_ascii_digit(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= kLongestId && !id.starts_with('.') && std::ranges::all_of(id, takes);
}

/// `field` keeps its default where the message has none.
template <class T>
Result<void> read_number(const nlohmann::json& json, const char* name, T& field) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return {};
  if (!found->is_number())
    return fail(Fault::usage, std::string(name) + ": expected a number, found " +
                                  without_controls(json_line(*found).substr(0, kShown)));
  field = found->get<T>();
  return {};
}

Result<void> read_text(const nlohmann::json& json, const char* name, std::string& field) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    return fail(Fault::usage, std::string("the message has no ") + name, "Send jobs by 'tutti send'");
  field = found->get<std::string>();
  return {};
}

}  // namespace

Result<JobMessage> read_message(const std::string& body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object())
    return fail(Fault::usage, "the message is no JSON object: '" + without_controls(body.substr(0, kShown)) + "'",
                "Send jobs by 'tutti send'");
  JobMessage message;
  int version = kJobMessageVersion;
  const std::array read{read_number(json, "schema_version", version),
                        read_text(json, "job_id", message.job_id),
                        read_text(json, "s3_input_path", message.s3_input_path),
                        read_text(json, "s3_output_path", message.s3_output_path),
                        read_number(json, "estimated_duration_seconds", message.estimated_duration_seconds),
                        read_number(json, "priority", message.priority),
                        read_number(json, "retry_count", message.retry_count)};
  for (const auto& one : read) TRY(one);
  if (version > kJobMessageVersion)
    return fail(Fault::usage,
                "schema_version: expected " + std::to_string(kJobMessageVersion) + ", found " + std::to_string(version),
                "Take a newer tutti");
  message.submitted_at = json_text(json, "submitted_at");
  TRY(check_message(message));
  return message;
}

Result<void> check_message(const JobMessage& message) {
  if (!is_job_id(message.job_id))
    return fail(Fault::usage, "job_id: expected 1 to 128 of A-Z, a-z, 0-9, '-', '_' and '.', found '" +
                                  without_controls(message.job_id.substr(0, kShown)) + "'");
  for (const auto& [name, path] :
       {std::pair("s3_input_path", &message.s3_input_path), std::pair("s3_output_path", &message.s3_output_path)})
    if (const auto parsed = parse_s3_path(*path); !parsed) return fail_in(name, parsed.error());
  if (message.s3_input_path == message.s3_output_path)
    return fail(Fault::usage, "s3_output_path: it is the recording's own", "Name another object for the transcript");
  if (!(message.estimated_duration_seconds > 0))
    return fail(Fault::usage, "estimated_duration_seconds: expected more than 0, found " +
                                  number_text(message.estimated_duration_seconds));
  if (message.priority < 1 || message.priority > 5)
    return fail(Fault::usage, "priority: expected 1 (the highest) to 5, found " + std::to_string(message.priority));
  return {};
}

std::string random_uuid() {
  std::string text = random_token();
  text[12] = '4';
  text[16] = "89ab"[static_cast<unsigned char>(text[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, "-");
  return text;
}

}  // namespace tutti
