#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/json.h"
#include "serve/openai/api_error.h"

namespace tutti {

// Bodies of requests that are JSON: what is wrong with one is a value that names the member, never an exception. They
// are whole in memory when they are read: who takes a body limits its size.

/// The JSON object that a request's body is. The error names what was expected where it is none, or no JSON at all.
///
/// Half of a surrogate pair ("\ud83d" alone), which programs in JavaScript send where they cut a text within a
/// character, is named with its member: the parser's own message would not show which text to mend.
/// Numbers beyond what JSON's numbers can hold, and names that come twice, are the parser's to decide: the last of
/// several counts. Thread-safe, as all of these.
tl::expected<nlohmann::json, ApiError> read_json_object(std::string_view body);

/// A member that must be there and be a text; null counts as absent. Of {"model": "tts-1"} the member "model" is
/// "tts-1", and of {} it is the refusal "model: it is required". The error names the member, which OpenAI's clients
/// show their users as the exception's `param`.
tl::expected<std::string, ApiError> required_text(const nlohmann::json& object, const std::string& member);

/// The refusal of a member, status 400: "member: what", with the member as its `param`. `what` begins with what was
/// expected, as in "expected a number from 0.25 to 4". For checks beyond those of this file, which know what a member
/// of one kind of request may be.
tl::unexpected<ApiError> invalid_member(std::string_view member, const std::string& what);

}  // namespace tutti
