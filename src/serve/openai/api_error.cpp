#include "serve/openai/api_error.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kTooLarge = 413;
constexpr int kTooMany = 429;
constexpr int kServerError = 500;
constexpr int kUnavailable = 503;

std::string_view type_of(int status) {
  if (status >= kServerError) return "server_error";
  return status == kTooMany ? "rate_limit_error" : "invalid_request_error";
}

int status_of(Fault fault) {
  switch (fault) {
    case Fault::usage:
    case Fault::missing:
    case Fault::corrupt:
    case Fault::unsupported: return 400;
    case Fault::refused: return kTooLarge;
    case Fault::internal: return kServerError;
    case Fault::exhausted:
    case Fault::full:
    case Fault::unavailable:
    case Fault::device:
    case Fault::cancelled: return kUnavailable;
  }
  return kServerError;
}

}  // namespace

std::string error_json(const ApiError& error) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return json_line(Json{{"error",
                         {{"message", error.message},
                          {"type", type_of(error.status)},
                          {"param", or_null(error.param)},
                          {"code", or_null(error.code)}}}});
}

HttpAnswer answer_of(const ApiError& error) {
  HttpAnswer answer{.status = error.status, .body = error_json(error) + "\n"};
  if (error.status == kUnauthorized) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (!error.should_retry) {
    answer.headers.emplace_back("x-should-retry", "false");
  } else if (error.status == kTooMany || error.status == kUnavailable) {
    const double wait = std::ceil(error.retry_after.value_or(Seconds(1)).count());
    answer.headers.emplace_back("Retry-After", std::to_string(std::clamp(static_cast<int>(wait), 1, 600)));
  }
  return answer;
}

HttpAnswer not_allowed(const std::string& allowed) {
  HttpAnswer answer = answer_of({.status = 405, .message = "this address takes " + allowed + " only"});
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

bool is_read(const HttpHead& head) {
  return head.method == "GET" || head.method == "HEAD";
}

void name_ignored(HttpAnswer& answer, const std::vector<std::string>& fields) {
  add_list_header(answer, "x-tutti-ignored-fields", fields, ", ");
}

void add_list_header(HttpAnswer& answer, const std::string& name, const std::vector<std::string>& texts,
                     std::string_view between) {
  constexpr std::size_t kLongest = 500;
  if (texts.empty()) return;
  std::string text = joined(texts, between);
  std::erase_if(text, [](unsigned char c) { return c < ' ' || c > 126; });
  answer.headers.emplace_back(name, text.substr(0, kLongest));
}

ApiError api_error_of(const Error& error, std::string_view param) {
  ApiError api{.status = status_of(error.fault), .message = error.text()};
  if (api.status < kServerError) api.param = param;
  return api;
}

}  // namespace tutti
