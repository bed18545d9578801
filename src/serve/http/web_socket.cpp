#include "serve/http/web_socket.h"

#include <poll.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace tutti {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::use_awaitable;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostReason = 120;                 // bytes of a close frame's text: 123 by RFC 6455
constexpr auto kLook = std::chrono::milliseconds(500);   // from one look at the client to the next
constexpr auto kAgain = std::chrono::milliseconds(20);   // until a message that could not be taken comes again
constexpr auto kEnding = std::chrono::milliseconds(10);  // from one look to the next at whether all has ended

/// What a WebSocket and the threads that answer it share.
class Outbox final : public SocketExchange {
 public:
  Outbox(std::size_t most, std::function<void()> wake) : most_(most), wake_(std::move(wake)) {}

  struct Next {
    std::deque<std::string> messages{};
    std::optional<std::pair<std::uint16_t, std::string>> close{};
  };

  void send(std::string text) override {
    const MutexLock lock(mutex_);
    if (detached_ || next_.close) return;
    waiting_ += text.size();
    next_.messages.push_back(std::move(text));
    wake_();
  }
  void close(std::uint16_t code, std::string reason) override {
    const MutexLock lock(mutex_);
    if (detached_ || next_.close) return;
    next_.close.emplace(code, std::move(reason));
    wake_();
  }

  // --- the network's side

  /// Takes what is to be sent now.
  Next next() {
    const MutexLock lock(mutex_);
    Next taken = next_;
    next_.messages.clear();
    waiting_ = 0;
    return taken;
  }
  bool is_closing() const {
    const MutexLock lock(mutex_);
    return next_.close.has_value();
  }
  bool is_overfull() const {
    const MutexLock lock(mutex_);
    return waiting_ > most_;
  }
  /// The socket goes: no call wakes the network any more.
  void detach() {
    const MutexLock lock(mutex_);
    detached_ = true;
  }

 private:
  const std::size_t most_;
  const std::function<void()> wake_;
  mutable Mutex mutex_;
  Next next_ TUTTI_GUARDED_BY(mutex_){};
  std::size_t waiting_ TUTTI_GUARDED_BY(mutex_) = 0;  // bytes
  bool detached_ TUTTI_GUARDED_BY(mutex_) = false;
};

/// Three coroutines share it: one reads, one sends, one watches. The network's thread.
class SocketConnection : public std::enable_shared_from_this<SocketConnection> {
 public:
  SocketConnection(std::shared_ptr<void> owner, ClientStream& stream, SocketSession& session,
                   const WebSocketLimits& limits)
      : owner_(std::move(owner)),
        stream_(stream),
        session_(session),
        limits_(limits),
        socket_(stream),
        wake_(stream.get_executor()),
        again_(stream.get_executor()),
        look_(stream.get_executor()) {}

  asio::awaitable<error_code> shake_hands(const http::request<http::buffer_body>& request, const HttpHead& head);
  asio::awaitable<void> serve(HttpRecord& record);
  void detach() {
    if (outbox_) outbox_->detach();
  }

 private:
  using Socket = websocket::stream<ClientStream&>;

  asio::awaitable<bool> read_message(beast::flat_buffer& message);
  asio::awaitable<bool> deliver(std::string_view message, bool is_text);
  asio::awaitable<void> send_messages();
  asio::awaitable<void> watch();
  asio::awaitable<void> end();
  std::function<void()> waker();
  bool has_left();
  /// Ends every read and write soon.
  void drop() { stream_.tcp().close(); }

  const std::shared_ptr<void> owner_;
  ClientStream& stream_;
  SocketSession& session_;
  const WebSocketLimits limits_;
  Socket socket_;
  asio::steady_timer wake_;   // something is to be sent
  asio::steady_timer again_;  // a message may be taken by now
  asio::steady_timer look_;   // at the client
  std::shared_ptr<Outbox> outbox_{};
  int running_ = 0;  // the coroutines beside the one that reads
  bool over_ = false;
  bool is_held_ = false;  // a message is not taken yet: nothing is read
  SteadyClock::time_point came_ = SteadyClock::now();
  std::optional<SteadyClock::time_point> writing_{};  // since then
  std::uint64_t received_ = 0, sent_ = 0;
};

asio::awaitable<error_code> SocketConnection::shake_hands(const http::request<http::buffer_body>& request,
                                                          const HttpHead& head) {
  socket_.read_message_max(limits_.message_bytes);
  websocket::stream_base::timeout times{};
  times.handshake_timeout = std::chrono::seconds(10);
  times.idle_timeout = websocket::stream_base::none();  // `watch` knows when nothing is read on purpose
  times.keep_alive_pings = false;
  socket_.set_option(times);
  socket_.set_option(websocket::stream_base::decorator([&head](websocket::response_type& response) {
    response.set(http::field::server, "tutti");
    response.set("x-request-id", head.id);
    // Browsers can name a token only among the protocols, and expect one of them back.
    if (head.header("sec-websocket-protocol").find("realtime") != std::string_view::npos)
      response.set(http::field::sec_websocket_protocol, "realtime");
  }));
  socket_.control_callback([this](websocket::frame_type, beast::string_view) { came_ = SteadyClock::now(); });
  error_code failed;
  co_await socket_.async_accept(request, asio::redirect_error(use_awaitable, failed));
  times.handshake_timeout = limits_.farewell;
  socket_.set_option(times);
  co_return failed;
}

asio::awaitable<void> SocketConnection::serve(HttpRecord& record) {
  outbox_ = std::make_shared<Outbox>(limits_.waiting_bytes, waker());
  came_ = SteadyClock::now();
  socket_.text(true);
  session_.begin(outbox_);
  running_ = 2;
  const auto self = shared_from_this();
  asio::co_spawn(
      stream_.get_executor(), [self] { return self->send_messages(); }, asio::detached);
  asio::co_spawn(
      stream_.get_executor(), [self] { return self->watch(); }, asio::detached);
  beast::flat_buffer message;
  while (co_await read_message(message)) {
    const std::string_view bytes(static_cast<const char*>(message.data().data()), message.data().size());
    if (!co_await deliver(bytes, socket_.got_text())) break;
    message.consume(message.size());
  }
  session_.gone();
  outbox_->detach();
  co_await end();
  record.received = received_;
  record.sent = sent_;
}

/// False: the client has left, or has sent what no client may.
asio::awaitable<bool> SocketConnection::read_message(beast::flat_buffer& message) {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  do {
    error_code failed;
    received_ += co_await socket_.async_read_some(message, kPiece, asio::redirect_error(use_awaitable, failed));
    if (failed) co_return false;
    came_ = SteadyClock::now();
  } while (!socket_.is_message_done());
  co_return !outbox_->is_overfull();
}

/// False: the client has left meanwhile.
asio::awaitable<bool> SocketConnection::deliver(std::string_view message, bool is_text) {
  while (!outbox_->is_closing() && !session_.take(message, is_text)) {
    is_held_ = true;
    again_.expires_after(kAgain);
    error_code ignored;
    co_await again_.async_wait(asio::redirect_error(use_awaitable, ignored));
    if (over_ || has_left()) co_return false;
  }
  if (is_held_) came_ = SteadyClock::now();
  is_held_ = false;
  co_return true;
}

asio::awaitable<void> SocketConnection::send_messages() {
  error_code failed;
  while (!over_ && !failed) {
    const auto next = outbox_->next();
    for (const std::string& message : next.messages) {
      writing_ = SteadyClock::now();
      co_await socket_.async_write(asio::buffer(message), asio::redirect_error(use_awaitable, failed));
      writing_.reset();
      if (failed || over_) break;
      sent_ += message.size();
    }
    if (failed || over_) break;
    if (next.close) {
      const websocket::close_reason reason(static_cast<websocket::close_code>(next.close->first),
                                           next.close->second.substr(0, kMostReason));
      co_await socket_.async_close(reason, asio::redirect_error(use_awaitable, failed));
      break;
    }
    if (!next.messages.empty()) continue;
    wake_.expires_after(limits_.gone);
    co_await wake_.async_wait(asio::redirect_error(use_awaitable, failed));
    failed = {};
  }
  if (failed && !over_) drop();  // it takes nothing any more: what it still sends is not worth work
  --running_;
}

/// Pings the client, and disconnects one that is gone or takes nothing.
asio::awaitable<void> SocketConnection::watch() {
  auto pinged = SteadyClock::now();
  bool is_closing = false;  // at the last look, too
  while (!over_) {
    look_.expires_after(kLook);
    error_code failed;
    co_await look_.async_wait(asio::redirect_error(use_awaitable, failed));
    if (over_) break;
    const auto now = SteadyClock::now();
    // Beast waits for the farewell of a client whose frames were not valid, without an end.
    if (std::exchange(is_closing, !socket_.is_open()) && is_closing) {
      drop();
      break;
    }
    const bool is_stuck = writing_ && now - *writing_ > limits_.gone;
    if (is_stuck || outbox_->is_overfull() || (!is_held_ && now - came_ > limits_.gone)) {
      drop();
      break;
    }
    if (now - pinged < limits_.ping || outbox_->is_closing() || is_closing) continue;
    pinged = now;
    failed = {};
    const websocket::ping_data nothing;  // named: g++ 12 destroys a braced temporary of a co_await twice
    co_await socket_.async_ping(nothing, asio::redirect_error(use_awaitable, failed));
    if (failed) break;
  }
  --running_;
}

asio::awaitable<void> SocketConnection::end() {
  over_ = true;
  drop();
  while (running_ > 0 || !session_.is_over()) {
    wake_.cancel();
    look_.cancel();
    again_.expires_after(kEnding);
    error_code ignored;
    co_await again_.async_wait(asio::redirect_error(use_awaitable, ignored));
  }
}

std::function<void()> SocketConnection::waker() {
  return [self = weak_from_this(), network = stream_.get_executor()] {
    asio::post(network, [self] {
      if (const auto alive = self.lock()) alive->wake_.cancel();
    });
  };
}

/// It has closed its side, though not all that it sent is read.
bool SocketConnection::has_left() {
  pollfd look{.fd = stream_.tcp().socket().native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// Detaches what the session has, however the scope is left: also where the server goes in the middle of it.
class AttachedSocket {
 public:
  explicit AttachedSocket(SocketConnection& connection) : connection_(connection) {}
  AttachedSocket(const AttachedSocket&) = delete;
  AttachedSocket& operator=(const AttachedSocket&) = delete;
  ~AttachedSocket() { connection_.detach(); }

 private:
  SocketConnection& connection_;
};

}  // namespace

asio::awaitable<void> serve_web_socket(std::shared_ptr<void> owner, ClientStream& stream,
                                       const http::request<http::buffer_body>& request, const HttpHead& head,
                                       SocketSession& session, const WebSocketLimits& limits, HttpRecord& record) {
  const auto connection = std::make_shared<SocketConnection>(std::move(owner), stream, session, limits);
  record.status = 400;
  if (const error_code failed = co_await connection->shake_hands(request, head); failed) co_return;
  constexpr int kSwitching = 101;
  record.status = kSwitching;
  const AttachedSocket attached(*connection);
  co_await connection->serve(record);
}

}  // namespace tutti
