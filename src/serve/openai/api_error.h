#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "serve/http/http.h"

namespace tutti {

/// An error as OpenAI's API states one, and the status it has. Clients of it retry 408, 409, 429 and 5xx by themselves,
/// and nothing else: a fault that another try cannot mend must have another status.
struct ApiError {
  int status = 400;
  std::string message{};
  std::string param{};  // the field that is wrong; empty: none
  std::string code{};   // for programs, "model_not_found"; empty: none
  std::optional<Seconds> retry_after{};
  bool should_retry = true;  // false: OpenAI's clients leave it, whatever the status
};

/// {"error":{"message","type","param","code"}}, on one line; a status of 429 or 503 has a Retry-After, or
/// `x-should-retry: false`.
HttpAnswer answer_of(const ApiError& error);

/// 405 for an address that takes other methods: "GET, POST".
HttpAnswer not_allowed(const std::string& allowed);

/// Whether a request changes nothing.
bool is_read(const HttpHead& head);

/// Names the fields of a request that mean nothing here, in the header x-tutti-ignored-fields; none: no header.
void name_ignored(HttpAnswer& answer, const std::vector<std::string>& fields);

/// A header with the texts of a list, in printable ASCII, 500 characters at most; an empty list: no header.
void add_list_header(HttpAnswer& answer, const std::string& name, const std::vector<std::string>& texts,
                     std::string_view between);

/// The same object without the status that goes with it, for the middle of a stream.
std::string error_json(const ApiError& error);

/// What a failed request answers: 400 or 413 for a fault of its input, 503 where another try may succeed, else 500.
/// `param`: the field that a fault of the input is about.
ApiError api_error_of(const Error& error, std::string_view param);

}  // namespace tutti
