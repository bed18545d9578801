#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "serve/http/client_stream.h"
#include "serve/http/http.h"
#include "serve/http/http_exchange.h"
#include "serve/http/http_server.h"

namespace tutti {

/// After a refusal what the client still sends is read and dropped for so long, so that it gets the answer and no
/// reset.
inline constexpr std::chrono::seconds kLinger{2};

/// Sends the answers of one connection, one after the other, as their exchanges have them: whole, or piece by piece.
/// Each piece has the server's deadline. Borrows what it is given; the network's thread.
class AnswerSender {
 public:
  AnswerSender(ClientStream& stream, const HttpServerOptions& options, HttpHandler& handler)
      : stream_(stream), options_(options), handler_(handler), wake_(stream.get_executor()) {}

  /// Waits for an exchange's answer and sends it, by HTTP/1.0 or 1.1 (`version` 10 or 11). False: the client has left,
  /// or what it has is no whole answer.
  boost::asio::awaitable<bool> send(std::shared_ptr<ConnectionExchange> exchange, unsigned version, bool keep);
  /// Sends an answer to a request that is read no further. The connection ends then.
  boost::asio::awaitable<void> refuse(HttpAnswer answer, const HttpHead& head, unsigned version);
  boost::asio::awaitable<boost::system::error_code> write(std::string_view bytes);

  /// What wakes send() when an exchange has more, from any thread. `owner` keeps this sender.
  std::function<void()> waker(std::weak_ptr<void> owner);
  void wake() { wake_.cancel(); }

  /// Of the request that is being served.
  HttpRecord record{};

 private:
  boost::asio::awaitable<bool> send_stream(const std::shared_ptr<ConnectionExchange>& exchange, HttpAnswer head,
                                           unsigned version);
  boost::asio::awaitable<void> wait_for_exchange(std::chrono::steady_clock::duration most);

  ClientStream& stream_;
  const HttpServerOptions& options_;
  HttpHandler& handler_;
  boost::asio::steady_timer wake_;  // something is to be sent
};

}  // namespace tutti
