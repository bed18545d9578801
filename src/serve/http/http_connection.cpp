#include "serve/http/http_connection.h"

#include <array>
#include <boost/beast.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "serve/http/answer_sender.h"
#include "serve/http/http_exchange.h"
#include "serve/http/http_messages.h"
#include "serve/http/web_socket.h"

namespace tutti {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr std::size_t kWatched = 1024;  // bytes of the next request, read while an answer is made
constexpr auto kWatchEnds = std::chrono::milliseconds(100);

/// Detaches an exchange from its connection, however its scope is left: also where the server goes in the middle of it.
class Attached {
 public:
  explicit Attached(ConnectionExchange& exchange) : exchange_(exchange) {}
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() { exchange_.detach(); }

 private:
  ConnectionExchange& exchange_;
};

/// Counts requests under way, however their scope is left.
class Counted {
 public:
  explicit Counted(std::atomic<int>& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::atomic<int>& count_;
};

/// One connection, served by one coroutine; requests come one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpConnections& server, tcp::socket socket, std::string address, asio::ssl::context* tls);
  ~Connection();

  asio::awaitable<void> serve();

 private:
  using Parser = http::request_parser<http::buffer_body>;

  asio::awaitable<bool> shake_hands();
  asio::awaitable<bool> serve_one(bool first);
  asio::awaitable<bool> read_head(Parser& parser, bool first);
  asio::awaitable<std::optional<HttpAnswer>> read_body(Parser& parser, HttpBody& body,
                                                       const std::shared_ptr<ConnectionExchange>& exchange);
  asio::awaitable<bool> serve_body(Parser& parser, HttpBody& body, const std::shared_ptr<ConnectionExchange>& exchange);
  asio::awaitable<void> send_early(std::shared_ptr<ConnectionExchange> exchange, unsigned version);
  asio::awaitable<void> end_body(const HttpBody& body);
  /// Of a request that could not be read.
  HttpHead unread_head() const;
  class Recorded;
  void watch(const std::shared_ptr<ConnectionExchange>& exchange);
  asio::awaitable<void> end_watch();

  HttpConnections& server_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  ClientStream stream_;
  const std::string address_;
  beast::flat_buffer buffer_{kBlock};
  AnswerSender answers_;
  asio::steady_timer watch_over_;  // the read of `watch` has ended
  bool watching_ = false;
  /// Of an answer that is sent while its request's body still comes.
  enum class Early { none, sending, sent, failed } early_ = Early::none;
};

Connection::Connection(HttpConnections& server, tcp::socket socket, std::string address, asio::ssl::context* tls)
    : server_(server),
      stream_(std::move(socket), tls),
      address_(std::move(address)),
      answers_(stream_, server.options, server.handler),
      watch_over_(stream_.get_executor()) {}

Connection::~Connection() {
  server_.left(address_);
}

asio::awaitable<void> Connection::serve() {
  const auto self = shared_from_this();
  if (!co_await shake_hands()) co_return;
  bool first = true;
  while (co_await serve_one(first)) first = false;
  if (stream_.is_encrypted()) {
    stream_.tcp().expires_after(kLinger);
    co_await stream_.close_notify();
  }
  error_code ignored;
  stream_.tcp().socket().shutdown(tcp::socket::shutdown_both, ignored);
}

HttpHead Connection::unread_head() const {
  HttpHead head;
  head.address = address_;
  head.id = request_id(server_.next_number());
  return head;
}

/// Where it is encrypted. Counts towards the deadline of the first request's head.
asio::awaitable<bool> Connection::shake_hands() {
  if (!stream_.is_encrypted()) co_return true;
  stream_.tcp().expires_at(begun_ + duration_of(server_.options.header_deadline));
  const error_code failed = co_await stream_.handshake();
  stream_.tcp().expires_never();
  if (ClientStream::is_in_the_clear(failed)) {
    stream_.go_on_in_the_clear();
    const HttpHead none = unread_head();
    HttpAnswer answer = server_.handler.refused(400, "this port speaks HTTPS: the address must begin with https://");
    co_await answers_.refuse(std::move(answer), none, 11);
  }
  co_return !failed;
}

/// Reports a request to the handler when its scope is left.
class Connection::Recorded {
 public:
  Recorded(Connection& connection, const HttpHead& head) : connection_(connection), head_(head) {
    connection_.answers_.record = {};
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    connection_.answers_.record.took = std::chrono::steady_clock::now() - begun_;
    connection_.server_.handler.ended(head_, connection_.answers_.record);
  }

 private:
  Connection& connection_;
  const HttpHead& head_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

asio::awaitable<bool> Connection::read_head(Parser& parser, bool first) {
  error_code failed;
  if (!first && buffer_.size() == 0) {
    stream_.tcp().expires_after(duration_of(server_.options.idle));
    auto space = buffer_.prepare(kBlock / 2);
    const std::size_t got = co_await stream_.async_read_some(space, asio::redirect_error(use_awaitable, failed));
    if (failed) co_return false;
    buffer_.commit(got);
  }
  const auto from = first ? begun_ : std::chrono::steady_clock::now();
  stream_.tcp().expires_at(from + duration_of(server_.options.header_deadline));
  co_await http::async_read_header(stream_, buffer_, parser, asio::redirect_error(use_awaitable, failed));
  stream_.tcp().expires_never();
  if (!failed) co_return true;
  if (!is_malformed(failed)) co_return false;
  // Named: g++ 12 destroys a braced temporary of a co_await twice.
  const HttpHead none = unread_head();
  const Recorded recorded(*this, none);
  HttpAnswer answer = failed == http::error::header_limit
                          ? server_.handler.refused(431, "the request's headers are too long")
                          : server_.handler.refused(400, "this is no HTTP/1.1 request: " + failed.message());
  co_await answers_.refuse(std::move(answer), none, 11);
  co_return false;
}

asio::awaitable<std::optional<HttpAnswer>> Connection::read_body(Parser& parser, HttpBody& body,
                                                                 const std::shared_ptr<ConnectionExchange>& exchange) {
  std::array<char, kBlock> block;
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t taken = 0;
  while (!parser.is_done()) {
    auto& into = parser.get().body();
    into.data = block.data();
    into.size = block.size();
    error_code failed;
    const Seconds allowed =
        server_.options.body_grace + Seconds(static_cast<double>(taken) / server_.options.body_rate);
    stream_.tcp().expires_at(begun + duration_of(allowed));
    co_await http::async_read_some(stream_, buffer_, parser, asio::redirect_error(use_awaitable, failed));
    stream_.tcp().expires_never();
    if (failed == http::error::need_buffer) failed = {};
    const std::size_t got = block.size() - into.size;
    answers_.record.received = taken += got;
    if (got > 0)
      if (auto took = body.take({block.data(), got}); !took) co_return std::move(took.error());
    if (early_ == Early::none && body.answers_already()) {
      early_ = Early::sending;
      asio::co_spawn(
          stream_.get_executor(),
          [self = shared_from_this(), exchange, version = parser.get().version()] {
            return self->send_early(exchange, version);
          },
          asio::detached);
    }
    if (is_malformed(failed))
      co_return server_.handler.refused(400, "the request's body is malformed: " + failed.message());
    if (failed || early_ == Early::failed) {  // the client has left, or is too slow
      HttpAnswer none;
      none.status = 0;
      co_return none;
    }
  }
  co_return std::nullopt;
}

/// Sends what the body answers while it comes.
asio::awaitable<void> Connection::send_early(std::shared_ptr<ConnectionExchange> exchange, unsigned version) {
  const bool sent = co_await answers_.send(exchange, version, /*keep=*/true);
  early_ = sent ? Early::sent : Early::failed;
  watch_over_.cancel();
}

/// Waits for what an answer of its own still has in work.
asio::awaitable<void> Connection::end_body(const HttpBody& body) {
  constexpr auto kEnding = std::chrono::milliseconds(10);
  while (early_ == Early::sending || !body.is_over()) {
    answers_.wake();
    watch_over_.expires_after(kEnding);
    error_code ignored;
    co_await watch_over_.async_wait(asio::redirect_error(use_awaitable, ignored));
  }
}

/// Reads a request's body and answers it. False: the connection ends.
asio::awaitable<bool> Connection::serve_body(Parser& parser, HttpBody& body,
                                             const std::shared_ptr<ConnectionExchange>& exchange) {
  const auto& request = parser.get();
  const unsigned version = request.version();
  const bool keep = request.keep_alive() && version >= 11;
  if (beast::iequals(request[http::field::expect], "100-continue"))
    if (co_await answers_.write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  early_ = Early::none;
  body.begin(exchange);
  auto refusal = co_await read_body(parser, body, exchange);
  if (refusal && early_ != Early::none) {  // its status is sent by now
    exchange->client_left();
    co_await end_body(body);
    co_return false;
  }
  if (refusal && refusal->status == 0) co_return false;
  if (refusal) {
    co_await answers_.refuse(std::move(*refusal), exchange->head(), version);
    co_return false;
  }
  body.complete(exchange);
  bool sent = false;
  watch(exchange);
  if (early_ == Early::none) {
    sent = co_await answers_.send(exchange, version, keep);
  } else {
    while (early_ == Early::sending) {
      error_code ignored;
      watch_over_.expires_after(kWatchEnds);
      co_await watch_over_.async_wait(asio::redirect_error(use_awaitable, ignored));
    }
    sent = early_ == Early::sent;
  }
  sent ? exchange->complete() : exchange->client_left();
  co_await end_watch();
  co_await end_body(body);
  co_return sent&& keep;
}

/// Reports a client that leaves while its answer is made. What it sends meanwhile, its next request, is kept.
void Connection::watch(const std::shared_ptr<ConnectionExchange>& exchange) {
  if (buffer_.size() > 0) return;  // the next request is there already
  watching_ = true;
  stream_.async_read_some(buffer_.prepare(kWatched),
                          [self = shared_from_this(), exchange](const error_code& failed, std::size_t got) {
                            self->watching_ = false;
                            self->buffer_.commit(got);
                            if (failed && failed != asio::error::operation_aborted) exchange->client_left();
                            self->watch_over_.cancel();
                          });
}

/// The next request may be read only when the watch has ended.
asio::awaitable<void> Connection::end_watch() {
  error_code ignored;
  while (watching_) {
    stream_.tcp().socket().cancel(ignored);
    watch_over_.expires_after(kWatchEnds);
    co_await watch_over_.async_wait(asio::redirect_error(use_awaitable, ignored));
  }
}

asio::awaitable<bool> Connection::serve_one(bool first) {
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(server_.options.head_bytes));
  parser.body_limit(boost::none);  // the handler has its own
  if (!co_await read_head(parser, first)) co_return false;
  const Counted answering(server_.answering);
  const auto& request = parser.get();
  const unsigned version = request.version();
  HttpHead head = head_of(request, address_, server_.next_number());
  if (const auto length = parser.content_length()) head.length = *length;
  const Recorded recorded(*this, head);
  if (const auto wrong = wrong_head(request)) {
    HttpAnswer answer = server_.handler.refused(wrong->first, wrong->second);
    co_await answers_.refuse(std::move(answer), head, version);
    co_return false;
  }
  if (beast::websocket::is_upgrade(request) && buffer_.size() == 0) {
    auto socket = server_.handler.begin_socket(head);
    const WebSocketLimits limits{.waiting_bytes = server_.options.stream_bytes};
    if (auto* session = std::get_if<std::unique_ptr<SocketSession>>(&socket))
      co_await serve_web_socket(shared_from_this(), stream_, request, head, **session, limits, answers_.record);
    else
      co_await answers_.refuse(std::move(std::get<HttpAnswer>(socket)), head, version);
    co_return false;
  }
  auto begun = server_.handler.begin(head);
  const bool has_body = parser.chunked() || head.length.value_or(0) > 0;
  const bool keep = request.keep_alive() && version >= 11;
  const auto exchange =
      std::make_shared<ConnectionExchange>(head, server_.options.stream_bytes, answers_.waker(weak_from_this()));
  const Attached attached(*exchange);
  if (auto* body = std::get_if<std::unique_ptr<HttpBody>>(&begun))
    co_return co_await serve_body(parser, **body, exchange);
  auto& answer = std::get<HttpAnswer>(begun);
  if (has_body) {
    co_await answers_.refuse(std::move(answer), head, version);
    co_return false;
  }
  exchange->answer(std::move(answer));
  watch(exchange);
  const bool sent = co_await answers_.send(exchange, version, keep);
  sent ? exchange->complete() : exchange->client_left();
  co_await end_watch();
  co_return sent&& keep;
}

}  // namespace

asio::awaitable<void> serve_connection(HttpConnections& all, tcp::socket socket, std::string address,
                                       asio::ssl::context* tls) {
  const auto connection = std::make_shared<Connection>(all, std::move(socket), std::move(address), tls);
  co_await connection->serve();
}

}  // namespace tutti
