#include "serve/jobs/job_request.h"

#include <algorithm>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "serve/openai/json_body.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::size_t kMostName = 200;

tl::unexpected<ApiError> invalid(std::string_view field, std::string what) {
  return tl::unexpected<ApiError>(
      {.message = std::string(field) + ": " + std::move(what), .param = std::string(field)});
}

/// How urgent a job is, what it is called and who is notified change no result.
bool is_about_order(std::string_view field) {
  return field == "class" || field == "priority" || field == "name" || field == "callback";
}

bool is_own_field(std::string_view field) {
  return is_about_order(field) || field == "task" || field == "url" || field == "path";
}

std::string first_code_points(const std::string& utf8, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t taken = 0; taken < most && end < utf8.size(); ++taken) end += code_point_at(utf8, end).size;
  return utf8.substr(0, end);
}

/// Reads a field of the job itself; whether it is translated goes to `translate`.
tl::expected<void, ApiError> take(JobRequest& request, bool& translate, const std::string& field,
                                  const std::string& text) {
  const std::string value(trimmed(text));
  if (field == "name") {
    request.name = first_code_points(without_controls(value), kMostName);
  } else if (field == "callback") {
    request.callback = value;
  } else if (field == "class") {
    const auto job_class = job_class_named(value);
    if (!job_class) return invalid(field, "expected interactive, normal or batch, found '" + value.substr(0, 40) + "'");
    request.job_class = *job_class;
  } else if (field == "priority") {
    const auto priority = priority_in(value);
    if (!priority)
      return invalid(field, "expected a whole number from -1000 to 1000, found '" + value.substr(0, 40) + "'");
    request.priority = *priority;
  } else if (field == "task") {
    if (value != "transcribe" && value != "translate")
      return invalid(field, "expected transcribe or translate, found '" + value.substr(0, 40) + "'");
    translate = value == "translate";
  } else {
    if (request.source != JobRequest::Source::upload) return invalid(field, "expected one of url and path");
    request.source = field == "url" ? JobRequest::Source::url : JobRequest::Source::path;
    request.location = value;
  }
  return {};
}

std::optional<std::string> text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

}  // namespace

std::optional<int> priority_in(std::string_view text) {
  constexpr int kMost = 1000;
  const auto number = number_in<int>(text);
  return number && *number >= -kMost && *number <= kMost ? number : std::nullopt;
}

tl::expected<FormFields, ApiError> fields_of_json(std::string_view json) {
  const auto parsed = TRY(read_json_object(json));
  FormFields fields;
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_null()) continue;
    if (value.is_object()) {  // chunking_strategy
      fields.emplace_back(name, value.dump());
      continue;
    }
    const auto list = value.is_array() ? value : nlohmann::json::array({value});
    for (const auto& element : list) {
      const auto text = text_of(element);
      if (!text) return invalid(name.substr(0, 60), "expected a text, a number, true or false, or a list of them");
      fields.emplace_back(name, *text);
    }
  }
  return fields;
}

tl::expected<JobRequest, ApiError> read_job_request(const FormFields& fields, const SpeechOptions& usual) {
  JobRequest request;
  FormFields speech;
  bool translate = false;
  for (const auto& [field, text] : fields) {
    if (trimmed(text).empty()) continue;  // many clients send what they leave out as an empty field
    if (!is_own_field(field)) {
      speech.emplace_back(field, text);
      continue;
    }
    if (!is_utf8(text)) return invalid(field, "expected text in UTF-8");
    TRY(take(request, translate, field, text));
  }
  auto form = TRY(read_speech_form(speech, usual, translate));
  if (form.stream) return invalid("stream", "a job answers at once; follow it at /v1/jobs/ID/events");
  if (form.logprobs)
    return invalid("include", "the result of a job has no logprobs; POST /v1/audio/transcriptions gives them");
  request.form = std::move(form);
  return request;
}

std::string result_fields(const FormFields& fields) {
  FormFields kept;
  std::ranges::copy_if(fields, std::back_inserter(kept),
                       [](const auto& field) { return !is_about_order(field.first); });
  return json_line(nlohmann::json(kept));
}

}  // namespace tutti
