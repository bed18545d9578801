#include "serve/http/http_messages.h"

#include <algorithm>
#include <cctype>
#include <ctime>

#include "base/time_text.h"
#include "net/url_fetch.h"

namespace tutti {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110).
std::string http_date() {
  return utc_text(std::time(nullptr), "%a, %d %b %Y %H:%M:%S GMT");
}

}  // namespace

std::string request_id(std::uint64_t number) {
  return "req_" + std::to_string(number);
}

HttpHead head_of(const BeastRequest& request, std::string address, std::uint64_t number) {
  HttpHead head{.method = std::string(request.method_string()), .address = std::move(address)};
  const std::string_view target(request.target().data(), request.target().size());
  const auto question = std::min(target.find('?'), target.size());
  head.path = percent_decoded(target.substr(0, question));
  if (question < target.size()) head.query = target.substr(question + 1);
  for (const auto& field : request) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    head.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  const auto named = head.header("x-request-id");
  const bool plain = named.size() <= 128 && std::ranges::all_of(named, [](char c) { return c > ' ' && c < 127; });
  head.id = plain && !named.empty() ? std::string(named) : request_id(number);
  return head;
}

std::optional<std::pair<int, const char*>> wrong_head(const BeastRequest& request) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11))
    return std::pair(400, "expected one Host header in a request of HTTP/1.1");
  const auto encoding = request[http::field::transfer_encoding];
  if (!encoding.empty() && !beast::iequals(encoding, "chunked"))
    return std::pair(501, "Transfer-Encoding: expected chunked alone");
  return std::nullopt;
}

BeastResponse response_of(HttpAnswer answer, const HttpHead& head, unsigned version, bool keep, HttpHandler& handler) {
  BeastResponse response;
  response.version(version);
  response.result(static_cast<unsigned>(answer.status));
  response.set(http::field::server, "tutti");
  if (!answer.type.empty()) response.set(http::field::content_type, answer.type);
  response.set(http::field::date, http_date());
  if (!head.id.empty()) response.set("x-request-id", head.id);
  for (const auto& [name, value] : handler.headers_for(head)) response.set(name, value);
  for (const auto& [name, value] : answer.headers) response.set(name, value);
  response.keep_alive(keep);
  response.body() = std::move(answer.body);
  return response;
}

bool is_malformed(const boost::system::error_code& failed) {
  return failed.category() == http::make_error_code(http::error::bad_chunk).category() &&
         failed != http::error::end_of_stream && failed != http::error::partial_message;
}

}  // namespace tutti
