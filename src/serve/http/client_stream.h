#pragma once

#include <openssl/ssl.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast.hpp>
#include <optional>
#include <utility>

namespace tutti {

/// A client's connection, encrypted or not, as one kind of stream for Beast: a read and a write at a time, each within
/// the time that `tcp().expires_after` gives it.
class ClientStream {
 public:
  using Tcp = boost::beast::tcp_stream;
  using Tls = boost::asio::ssl::stream<Tcp&>;
  using Failure = boost::system::error_code;
  using executor_type = Tcp::executor_type;

  /// `tls`: null for a connection in the clear; outlives it.
  ClientStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls) : tcp_(std::move(socket)) {
    if (tls) tls_.emplace(tcp_, *tls);
  }

  executor_type get_executor() { return tcp_.get_executor(); }
  Tcp& tcp() { return tcp_; }
  bool is_encrypted() const { return tls_.has_value(); }

  /// To be awaited once, first, where it is encrypted.
  boost::asio::awaitable<Failure> handshake() {
    Failure failed;
    co_await tls_->async_handshake(Tls::server, boost::asio::redirect_error(boost::asio::use_awaitable, failed));
    co_return failed;
  }
  /// Sends that nothing more comes, and waits until the client sends the same.
  boost::asio::awaitable<void> close_notify() {
    Failure ignored;
    co_await tls_->async_shutdown(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  /// The handshake has failed because the client speaks HTTP in the clear.
  static bool is_in_the_clear(const Failure& failed) {
    return failed.category() == boost::asio::error::get_ssl_category() &&
           ERR_GET_REASON(static_cast<unsigned long>(failed.value())) == SSL_R_HTTP_REQUEST;
  }
  /// For an answer to such a client.
  void go_on_in_the_clear() { tls_.reset(); }

  // What Beast's WebSocket needs of a stream: to be ended abruptly, and with the farewell of TLS.
  friend void beast_close_socket(ClientStream& stream) { stream.tcp_.close(); }
  template <class Handler>
  friend void async_teardown(boost::beast::role_type role, ClientStream& stream, Handler&& handler) {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, stream.tcp_.socket(), std::forward<Handler>(handler));
  }
  friend void teardown(boost::beast::role_type role, ClientStream& stream, Failure& failed) {
    using boost::beast::websocket::teardown;
    teardown(role, stream.tcp_.socket(), failed);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Failure, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          tls_ ? tls_->async_read_some(into, std::move(handler)) : tcp_.async_read_some(into, std::move(handler));
        },
        token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(Failure, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          tls_ ? tls_->async_write_some(from, std::move(handler)) : tcp_.async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

 private:
  Tcp tcp_;
  std::optional<Tls> tls_{};
};

}  // namespace tutti
