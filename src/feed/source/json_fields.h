#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "feed/timed_text.h"

namespace tutti {

// What readers of sets take out of JSON objects. Names of fields are understood in upper and lower case.

/// The value under the first of `names` that an object has; null: it has none.
const nlohmann::json* find_json_field(const nlohmann::json& object, std::span<const char* const> names);

/// The value of that field as a text, an empty one where there is none; whatever is no text is shown as JSON.
std::string json_text_of(const nlohmann::json& object, std::span<const char* const> names);
std::string json_text_of(const nlohmann::json& object, const char* name);

/// Fault::corrupt where the object's text is a list or a truth value. A number may be the text.
Result<void> check_json_text(const nlohmann::json& object);

/// Seconds; Fault::corrupt where the field has something else, or less than none.
Result<std::optional<double>> json_number_of(const nlohmann::json& object, std::span<const char* const> names);

/// "words" as transcripts have them.
Result<std::vector<TimedText>> json_words_of(const nlohmann::json& object);

/// The value of the first of `names` that an object has and that is not empty, without blanks around it.
std::string filled_json_text(const nlohmann::json& object, std::span<const char* const> names);

/// The names of an object's fields, for people.
std::string json_names_in(const nlohmann::json& object);

}  // namespace tutti
