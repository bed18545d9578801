#include "cloud/job_message.h"

#include <array>
#include <ctime>
#include <random>

#include "base/json.h"
#include "base/numbers.h"
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

Result<void> check_message(const JobMessage& message) {
  if (message.job_id.empty()) return fail(Fault::usage, "job_id: expected an id, found none");
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
  std::random_device random;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : text) {
    if (c == 'x') c = kDigits[random() & 15U];
    if (c == 'y') c = kDigits[8U | (random() & 3U)];
  }
  return text;
}

std::string iso_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace tutti
