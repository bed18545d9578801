#pragma once

#include <string>

#include "base/error.h"
#include "net/http.h"

namespace tutti {

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
