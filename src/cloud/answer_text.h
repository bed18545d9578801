#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tutti {

/// The text of the first element of that name in an answer of S3 or STS, "&amp;" and its kind read; empty where there
/// is none. Enough for their flat answers: elements of one name are not in each other.
std::string xml_text(std::string_view xml, std::string_view element);

/// What is between the tags of every element of that name, in their order, as views into `xml`.
std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view element);

/// The text under a key of a JSON object; empty where it has none, or the value is no text.
std::string json_text(const nlohmann::json& object, const char* key);

}  // namespace tutti
