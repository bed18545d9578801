#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "net/http.h"

namespace tutti {

/// The text of the first element of that name in an answer of S3 or STS, "&amp;" and its kind read; empty where there
/// is none. Enough for their flat answers: elements of one name are not in each other.
std::string xml_text(std::string_view xml, std::string_view element);

/// What is between the tags of every element of that name, in their order, as views into `xml`.
std::vector<std::string_view> xml_elements(std::string_view xml, std::string_view element);

/// The text under a key of a JSON object; empty where it has none, or the value is no text.
std::string json_text(const nlohmann::json& object, const char* key);

/// What an answer means that is not the wanted one.
struct AwsError {
  /// What would help.
  enum class Remedy {
    none,
    another_try,      // throttled, a server error, a lost connection, a race with another writer
    new_credentials,  // those that signed it have expired
  };

  Error error{};
  Remedy remedy = Remedy::none;
  int status = 0;      // of HTTP; 0: no answer
  std::string code{};  // "NoSuchKey"; empty: the answer has none
};

/// Reads an error of S3 or STS (XML) or of SQS (JSON). `thing` is what the request was about, `region` the one that it
/// was signed for, `source` where its credentials came from. Pure; nothing secret is in the error.
AwsError aws_error(const FetchedAnswer& answer, const std::string& thing, const std::string& region,
                   const std::string& source);

}  // namespace tutti
