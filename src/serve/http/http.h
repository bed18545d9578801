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

#include "base/units.h"

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
  /// Where no answer has begun after `wait`, `head` begins one and `beat` is sent from time to time, so that a proxy
  /// does not take the connection for dead. `answer` then gives the rest: in a stream of events one event more, else
  /// its body. The status is sent by then: a body that belongs to another one is cut off behind it, so that no client
  /// takes it for a success. Clients of HTTP/1.0, which could not know, get no beats.
  virtual void beat_after(Seconds wait, HttpAnswer head, std::string beat) = 0;
  /// Called once when the client leaves before its answer is complete, by the network's thread: briefly. At once where
  /// it has left.
  virtual void on_gone(std::function<void()> gone) = 0;
};

/// Takes the body of one request as it comes. Calls come from the network's thread: briefly.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  /// Once, first. Most bodies need the way back only in `complete`.
  virtual void begin(const std::shared_ptr<HttpExchange>& /*exchange*/) {}
  /// Its answer has begun though more of it may come: it is sent meanwhile.
  virtual bool answers_already() const { return false; }
  /// A refusal ends the request with that answer.
  virtual tl::expected<void, HttpAnswer> take(std::string_view bytes) = 0;
  /// The body is complete: the answer may come now or later, from any thread.
  virtual void complete(std::shared_ptr<HttpExchange> exchange) = 0;
  /// After its answer, or its client, is gone: nothing of it is in work, and its destructor waits for nothing.
  virtual bool is_over() const { return true; }
};

/// How a request ended.
struct HttpRecord {
  int status = 0;              // of its answer; 0: the client left before there was one
  std::uint64_t received = 0;  // bytes of its body
  std::uint64_t sent = 0;      // bytes of its answer's body
  Seconds took{};              // from its head to the end of its answer
};

/// The way back of a WebSocket. Thread-safe; after the client has left, every call does nothing.
class SocketExchange {
 public:
  virtual ~SocketExchange() = default;
  /// A text message. A client that takes too little of what it gets is disconnected.
  virtual void send(std::string text) = 0;
  /// Closes it once all messages are sent; `code` by RFC 6455.
  virtual void close(std::uint16_t code, std::string reason) = 0;
};

/// One WebSocket's messages as they come. Calls come from the network's thread: briefly.
class SocketSession {
 public:
  virtual ~SocketSession() = default;
  /// Once, first.
  virtual void begin(std::shared_ptr<SocketExchange> exchange) = 0;
  /// False: not now. The same message comes again soon, and no other before it.
  virtual bool take(std::string_view message, bool is_text) = 0;
  /// Once, last: the client has left, or the socket is closed. The session goes once it is over.
  virtual void gone() = 0;
  /// After `gone`: nothing of it is in work any more, and its destructor waits for nothing.
  virtual bool is_over() const = 0;
};

/// Decides about requests by their heads alone.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// An answer before any of the body is read, or who takes the body. Called by the network's thread: briefly.
  virtual std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) = 0;
  /// The same of a request for a WebSocket.
  virtual std::variant<HttpAnswer, std::unique_ptr<SocketSession>> begin_socket(const HttpHead& head) {
    return refused(404, "there is no WebSocket at " + head.path);
  }
  /// A request that is no HTTP, too long or too slow: its answer. `status`: 400, 408, 413, 431, 501 or
  /// 503.
  virtual HttpAnswer refused(int status, std::string_view why) = 0;
  /// Headers that every answer to a request has, whatever made the answer.
  virtual HttpHeaders headers_for(const HttpHead& /*head*/) { return {}; }
  /// A request has ended, also one that was refused. `head` has no method where it could not be read.
  virtual void ended(const HttpHead& /*head*/, const HttpRecord& /*record*/) {}
};

}  // namespace tutti
