#include "serve/http/http_server.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>

#include "base/field_names.h"
#include "base/log.h"
#include "base/time_text.h"
#include "base/try.h"
#include "net/url_fetch.h"
#include "serve/http/client_stream.h"
#include "serve/http/http_exchange.h"
#include "serve/http/web_socket.h"

namespace tutti {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kKeepAlive = std::chrono::seconds(15);
constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr std::size_t kWatched = 1024;  // bytes of the next request, read while an answer is made
constexpr auto kWatchEnds = std::chrono::milliseconds(100);
/// After a refusal what the client still sends is read and dropped for so long, so that it gets the answer and no
/// reset.
constexpr auto kLinger = std::chrono::seconds(2);

std::chrono::steady_clock::duration duration_of(Seconds seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

std::string request_id(std::uint64_t number) {
  return "req_" + std::to_string(number);
}

HttpHead head_of(const http::request<http::buffer_body>& request, std::string address, std::uint64_t number) {
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

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110).
std::string http_date() {
  return utc_text(std::time(nullptr), "%a, %d %b %Y %H:%M:%S GMT");
}

/// What no server may take: another one, in front of this, may take it for another request. None: nothing is wrong.
std::optional<std::pair<int, const char*>> wrong_head(const http::request<http::buffer_body>& request) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() >= 11))
    return std::pair(400, "expected one Host header in a request of HTTP/1.1");
  const auto encoding = request[http::field::transfer_encoding];
  if (!encoding.empty() && !beast::iequals(encoding, "chunked"))
    return std::pair(501, "Transfer-Encoding: expected chunked alone");
  return std::nullopt;
}

http::response<http::string_body> response_of(HttpAnswer answer, const HttpHead& head, unsigned version, bool keep,
                                              HttpHandler& handler) {
  http::response<http::string_body> response;
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

/// What came is no HTTP, where another error means that nothing more comes.
bool is_malformed(const error_code& failed) {
  return failed.category() == http::make_error_code(http::error::bad_chunk).category() &&
         failed != http::error::end_of_stream && failed != http::error::partial_message;
}

class Server;

/// One connection, served by one coroutine; requests come one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, tcp::socket socket, std::string address, asio::ssl::context* tls);
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
  asio::awaitable<bool> send_answer(const std::shared_ptr<ConnectionExchange>& exchange, unsigned version, bool keep);
  asio::awaitable<void> send_early(std::shared_ptr<ConnectionExchange> exchange, unsigned version);
  asio::awaitable<void> end_body(const HttpBody& body);
  asio::awaitable<bool> send_stream(const std::shared_ptr<ConnectionExchange>& exchange, HttpAnswer head,
                                    unsigned version);
  asio::awaitable<void> refuse(HttpAnswer answer, const HttpHead& head, unsigned version);
  /// Of a request that could not be read.
  HttpHead unread_head() const;
  asio::awaitable<error_code> write(std::string_view bytes);
  asio::awaitable<void> wait_for_exchange(std::chrono::steady_clock::duration most);
  std::function<void()> waker();
  class Recorded;
  void watch(const std::shared_ptr<ConnectionExchange>& exchange);
  asio::awaitable<void> end_watch();

  Server& server_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  ClientStream stream_;
  const std::string address_;
  beast::flat_buffer buffer_{kBlock};
  asio::steady_timer wake_;        // something is to be sent
  asio::steady_timer watch_over_;  // the read of `watch` has ended
  bool watching_ = false;
  /// Of an answer that is sent while its request's body still comes.
  enum class Early { none, sending, sent, failed } early_ = Early::none;
  HttpRecord record_{};  // of the request that is being served
};

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& given, HttpHandler& with) : options(given), handler(with) {}
  ~Server() override {
    network.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> listen();
  std::uint16_t port() const override { return port_; }
  std::size_t connections() const override { return open_; }
  void finish(Seconds most) override;

  bool admit(const std::string& address) {
    if (of_address_[address] >= options.connections_an_address) return false;
    ++of_address_[address];
    ++open_;
    return true;
  }
  void left(const std::string& address) {
    --open_;
    if (--of_address_[address] == 0) of_address_.erase(address);
  }

  const HttpServerOptions options;
  HttpHandler& handler;

 private:
  std::atomic<std::size_t> open_{0};
  std::map<std::string, std::size_t> of_address_{};  // the network's thread's

 public:
  asio::io_context network{1};    // behind what connections still need when they go with it
  std::atomic<int> answering{0};  // requests between their head and the end of their answer
  std::uint64_t requests = 0;
  /// Distinguishes this server's requests from those of the one before it.
  const std::uint64_t birth = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());

 private:
  asio::awaitable<void> accept();

  std::optional<asio::ssl::context> tls_{};
  tcp::acceptor acceptor_{network};
  std::uint16_t port_ = 0;
  std::thread thread_{};
};

Connection::Connection(Server& server, tcp::socket socket, std::string address, asio::ssl::context* tls)
    : server_(server),
      stream_(std::move(socket), tls),
      address_(std::move(address)),
      wake_(stream_.get_executor()),
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
  head.id = request_id(server_.birth + ++server_.requests);
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
    co_await refuse(std::move(answer), none, 11);
  }
  co_return !failed;
}

asio::awaitable<error_code> Connection::write(std::string_view bytes) {
  error_code failed;
  stream_.tcp().expires_after(duration_of(server_.options.write_deadline));
  co_await asio::async_write(stream_, asio::buffer(bytes), asio::redirect_error(use_awaitable, failed));
  stream_.tcp().expires_never();
  co_return failed;
}

/// Reports a request to the handler when its scope is left.
class Connection::Recorded {
 public:
  Recorded(Connection& connection, const HttpHead& head) : connection_(connection), head_(head) {
    connection_.record_ = {};
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    connection_.record_.took = std::chrono::steady_clock::now() - begun_;
    connection_.server_.handler.ended(head_, connection_.record_);
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
  co_await refuse(std::move(answer), none, 11);
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
    record_.received = taken += got;
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
  const bool sent = co_await send_answer(exchange, version, /*keep=*/true);
  early_ = sent ? Early::sent : Early::failed;
  watch_over_.cancel();
}

/// Waits for what an answer of its own still has in work.
asio::awaitable<void> Connection::end_body(const HttpBody& body) {
  constexpr auto kEnding = std::chrono::milliseconds(10);
  while (early_ == Early::sending || !body.is_over()) {
    wake_.cancel();
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
    if (co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
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
    co_await refuse(std::move(*refusal), exchange->head(), version);
    co_return false;
  }
  body.complete(exchange);
  bool sent = false;
  watch(exchange);
  if (early_ == Early::none) {
    sent = co_await send_answer(exchange, version, keep);
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

/// Wakes `wait_for_exchange`, from any thread.
std::function<void()> Connection::waker() {
  return [self = weak_from_this(), network = stream_.get_executor()] {
    asio::post(network, [self] {
      if (const auto alive = self.lock()) alive->wake_.cancel();
    });
  };
}

asio::awaitable<void> Connection::wait_for_exchange(std::chrono::steady_clock::duration most) {
  wake_.expires_after(most);
  error_code ignored;
  co_await wake_.async_wait(asio::redirect_error(use_awaitable, ignored));
}

asio::awaitable<bool> Connection::send_stream(const std::shared_ptr<ConnectionExchange>& exchange, HttpAnswer head,
                                              unsigned version) {
  const bool chunked = version >= 11;
  const bool events = head.type.starts_with("text/event-stream");
  if (events) head.headers.emplace_back("X-Accel-Buffering", "no");  // nginx would hold events back
  record_.status = head.status;
  auto response = response_of(std::move(head), exchange->head(), version, chunked, server_.handler);
  if (chunked) response.chunked(true);
  http::response_serializer<http::string_body> serializer(response);
  error_code failed;
  stream_.tcp().expires_after(duration_of(server_.options.write_deadline));
  co_await http::async_write_header(stream_, serializer, asio::redirect_error(use_awaitable, failed));
  stream_.tcp().expires_never();
  auto last = std::chrono::steady_clock::now();
  while (!failed) {
    auto next = exchange->next();
    if (next.gone) co_return false;
    if (next.nothing()) {
      co_await wait_for_exchange(kKeepAlive);
      if (std::chrono::steady_clock::now() - last < kKeepAlive) continue;
      const std::string beat = events ? ": keepalive\n\n" : exchange->beat();
      if (!beat.empty()) exchange->send(beat);
      continue;
    }
    if (!next.piece.empty()) {
      record_.sent += next.piece.size();
      std::array<char, 24> size{};
      const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", next.piece.size());
      if (chunked) next.piece = std::string(size.data(), static_cast<std::size_t>(digits)) + next.piece + "\r\n";
      failed = co_await write(next.piece);
      last = std::chrono::steady_clock::now();
    }
    if (next.ended && !failed) {
      if (next.cut) exchange->complete();
      if (next.cut) co_return false;
      if (chunked) failed = co_await write("0\r\n\r\n");
      co_return !failed;
    }
  }
  co_return false;
}

asio::awaitable<bool> Connection::send_answer(const std::shared_ptr<ConnectionExchange>& exchange, unsigned version,
                                              bool keep) {
  for (;;) {
    auto next = exchange->next();
    if (next.gone) co_return false;
    if (!next.head) {
      const auto beats = version >= 11 ? exchange->until_beats() : std::nullopt;
      co_await wait_for_exchange(beats.value_or(std::chrono::hours(1)));
      if (beats) exchange->begin_beats();
      continue;
    }
    if (next.streams) co_return co_await send_stream(exchange, std::move(*next.head), version);
    record_.status = next.head->status;
    record_.sent = next.head->body.size();
    auto response = response_of(std::move(*next.head), exchange->head(), version, keep, server_.handler);
    if (exchange->head().method == "HEAD") {
      response.content_length(response.body().size());
      response.body().clear();
    } else {
      response.prepare_payload();
    }
    error_code failed;
    stream_.tcp().expires_after(duration_of(server_.options.write_deadline));
    http::response_serializer<http::string_body> serializer(response);
    co_await http::async_write(stream_, serializer, asio::redirect_error(use_awaitable, failed));
    stream_.tcp().expires_never();
    co_return !failed;
  }
}

asio::awaitable<void> Connection::refuse(HttpAnswer answer, const HttpHead& head, unsigned version) {
  record_.status = answer.status;
  record_.sent = answer.body.size();
  auto response = response_of(std::move(answer), head, version, /*keep=*/false, server_.handler);
  response.prepare_payload();
  error_code failed;
  stream_.tcp().expires_after(duration_of(server_.options.write_deadline));
  http::response_serializer<http::string_body> serializer(response);
  co_await http::async_write(stream_, serializer, asio::redirect_error(use_awaitable, failed));
  if (failed) co_return;
  auto& tcp = stream_.tcp();  // where it is encrypted, what comes is not worth decrypting
  tcp.socket().shutdown(tcp::socket::shutdown_send, failed);
  std::array<char, kBlock> dropped;
  tcp.expires_after(kLinger);
  while (!failed) co_await tcp.async_read_some(asio::buffer(dropped), asio::redirect_error(use_awaitable, failed));
}

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

asio::awaitable<bool> Connection::serve_one(bool first) {
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(server_.options.head_bytes));
  parser.body_limit(boost::none);  // the handler has its own
  if (!co_await read_head(parser, first)) co_return false;
  const Counted answering(server_.answering);
  const auto& request = parser.get();
  const unsigned version = request.version();
  HttpHead head = head_of(request, address_, server_.birth + ++server_.requests);
  if (const auto length = parser.content_length()) head.length = *length;
  const Recorded recorded(*this, head);
  if (const auto wrong = wrong_head(request)) {
    HttpAnswer answer = server_.handler.refused(wrong->first, wrong->second);
    co_await refuse(std::move(answer), head, version);
    co_return false;
  }
  if (beast::websocket::is_upgrade(request) && buffer_.size() == 0) {
    auto socket = server_.handler.begin_socket(head);
    const WebSocketLimits limits{.waiting_bytes = server_.options.stream_bytes};
    if (auto* session = std::get_if<std::unique_ptr<SocketSession>>(&socket))
      co_await serve_web_socket(shared_from_this(), stream_, request, head, **session, limits, record_);
    else
      co_await refuse(std::move(std::get<HttpAnswer>(socket)), head, version);
    co_return false;
  }
  auto begun = server_.handler.begin(head);
  const bool has_body = parser.chunked() || head.length.value_or(0) > 0;
  const bool keep = request.keep_alive() && version >= 11;
  const auto exchange = std::make_shared<ConnectionExchange>(head, server_.options.stream_bytes, waker());
  const Attached attached(*exchange);
  if (auto* body = std::get_if<std::unique_ptr<HttpBody>>(&begun))
    co_return co_await serve_body(parser, **body, exchange);
  auto& answer = std::get<HttpAnswer>(begun);
  if (has_body) {
    co_await refuse(std::move(answer), head, version);
    co_return false;
  }
  exchange->answer(std::move(answer));
  watch(exchange);
  const bool sent = co_await send_answer(exchange, version, keep);
  sent ? exchange->complete() : exchange->client_left();
  co_await end_watch();
  co_return sent&& keep;
}

Result<void> Server::listen() {
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  const std::string where = (is_ipv6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(options.port);
  error_code failed;
  const auto address = asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, failed);
  if (failed)
    return fail(Fault::usage, field("listen") + ": expected an address of this machine, found '" + options.host + "'",
                "Take 127.0.0.1 for this machine alone, 0.0.0.0 for every network it is in");
  const tcp::endpoint endpoint(address, options.port);
  acceptor_.open(endpoint.protocol(), failed);
  if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor_.bind(endpoint, failed);
  if (!failed) acceptor_.listen(4096, failed);
  if (failed) {
    Error error = system_error(where, "cannot be listened on", failed.value());
    if (failed == asio::error::address_in_use)
      error.hint = "Another program has it: name another port with " + field("listen");
    return tl::unexpected<Error>(std::move(error));
  }
  port_ = acceptor_.local_endpoint().port();
  if (options.tls) {
    SSL_CTX_up_ref(options.tls.get());
    tls_.emplace(options.tls.get());
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  asio::co_spawn(network, accept(), asio::detached);
  thread_ = std::thread([this] { network.run(); });
  return {};
}

asio::awaitable<void> Server::accept() {
  asio::steady_timer pause(network);
  for (;;) {
    error_code failed;
    tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(use_awaitable, failed));
    if (failed) {  // no descriptor is left, most often: those that are open end some time
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::redirect_error(use_awaitable, failed));
      continue;
    }
    const auto peer = socket.remote_endpoint(failed);
    if (failed) continue;
    const std::string address = peer.address().to_string();
    if (!admit(address)) continue;  // closed at once
    socket.set_option(tcp::no_delay(true), failed);
    auto connection = std::make_shared<Connection>(*this, std::move(socket), address, tls_ ? &*tls_ : nullptr);
    asio::co_spawn(
        network, [connection] { return connection->serve(); }, asio::detached);
  }
}

void Server::finish(Seconds most) {
  const auto until = std::chrono::steady_clock::now() + duration_of(most);
  while (answering > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options, HttpHandler& handler) {
  auto server = std::make_unique<Server>(options, handler);
  TRY(server->listen());
  return server;
}

}  // namespace tutti
