#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

// The border to the network. Everything above it sees requests and answers, and nothing of sockets or of the library
// that serves them (http_server.cpp).

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// A request before its body.
struct HttpHead {
  std::string method{};
  std::string path{};                     // decoded, without the query: "/v1/audio/transcriptions"
  std::string query{};                    // behind the "?", as it came
  HttpHeaders headers{};                  // names in lower case
  std::string address{};                  // address of the client, without its port
  std::string id{};                       // ours, or the client's own x-request-id
  std::optional<std::uint64_t> length{};  // length of the body; none: it comes in chunks, or there is none

  /// The first header of that name, which is in lower case; empty: there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  HttpHeaders headers{};
};

/// With every %XX as its byte; a "%" that no two hexadecimal digits follow stays.
std::string percent_decoded(std::string_view text);

/// The parameters of a query, "limit=5&q=a+b", names and values decoded; of a name that comes again, the last.
std::map<std::string, std::string> query_parameters(std::string_view query);

/// The way back of one request. Thread-safe; after the client has left, every call does nothing.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const HttpHead& head() const = 0;
  /// The whole answer; the first one counts.
  virtual void answer(HttpAnswer answer) = 0;
  /// Begins an answer that comes in pieces; `head` has no body. A stream of events is kept alive by comments.
  virtual void begin_stream(HttpAnswer head) = 0;
  /// False: the client has left, or takes too little of what it gets.
  virtual bool send(std::string_view piece) = 0;
  virtual void end_stream() = 0;
  /// Called once when the client leaves before its answer is complete, by the network's thread: briefly. At once where
  /// it has left.
  virtual void on_gone(std::function<void()> gone) = 0;
};

/// Takes the body of one request as it comes. Calls come from the network's thread: briefly.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  /// A refusal ends the request with that answer.
  virtual tl::expected<void, HttpAnswer> take(std::string_view bytes) = 0;
  /// The body is complete: the answer may come now or later, from any thread.
  virtual void complete(std::shared_ptr<HttpExchange> exchange) = 0;
};

/// Decides about requests by their heads alone.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// An answer before any of the body is read, or who takes the body. Called by the network's thread: briefly.
  virtual std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) = 0;
  /// A request that is no HTTP, too long or too slow: its answer. `status`: 400, 408, 413, 431 or 503.
  virtual HttpAnswer refused(int status, std::string_view why) = 0;
};

}  // namespace tutti
