#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/job_class.h"
#include "serve/openai/api_error.h"
#include "serve/openai/speech_form.h"

namespace tutti {

/// The fields of a form, in the order in which they came.
using FormFields = std::vector<std::pair<std::string, std::string>>;

/// What a client of /v1/jobs wants done, read.
struct JobRequest {
  enum class Source { upload, url, path };

  Source source = Source::upload;
  std::string location{};  // the URL, or the path on this machine
  SpeechForm form{};       // its format is the one that the result comes in where no other is named
  JobClass job_class = JobClass::batch;
  int priority = 0;        // higher first within its class; waiting ten minutes counts one
  std::string name{};      // for people; empty: that of the recording
  std::string callback{};  // gets the job's JSON when it has ended; empty: nothing does
};

/// The priority that all of `text` is: a whole number from -1000 to 1000; none for anything else.
std::optional<int> priority_in(std::string_view text);

/// The members of a JSON object as the fields of a form: texts, numbers and truth values as they are, an array as its
/// elements under one name.
tl::expected<FormFields, ApiError> fields_of_json(std::string_view json);

/// Reads the fields of POST /v1/jobs: those of /v1/audio/transcriptions, and `task` (transcribe, translate), `class`
/// (interactive, normal, batch), `priority`, `name`, `callback`, and `url` or `path` in place of an upload. The error
/// names the field.
tl::expected<JobRequest, ApiError> read_job_request(const FormFields& fields, const SpeechOptions& usual);

/// The fields that change what the result is, as one text, [["model", "whisper-1"], ...]: equal for equal requests,
/// however urgent they are.
std::string result_fields(const FormFields& fields);

}  // namespace tutti
