#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "serve/http/client_stream.h"
#include "serve/http/http.h"

namespace tutti {

/// What a client may do before it is disconnected.
struct WebSocketLimits {
  std::size_t message_bytes = std::size_t{16} << 20;  // of the client: some minutes of audio as base64
  std::size_t waiting_bytes = std::size_t{4} << 20;   // for a client that reads slowly, before it is disconnected
  std::chrono::seconds ping{10};                      // from one to the next
  std::chrono::seconds gone{30};                      // without a byte or a pong: the client is no more
  std::chrono::seconds farewell{1};                   // for the client's own close frame
};

/// Serves a WebSocket from its handshake until it is closed or the client has left, and `session` is over.
/// * A message that the session does not take is offered again, and nothing is read meanwhile.
/// * A client beyond the limits is disconnected.
///
/// Counts into `record`. `owner` keeps what `stream` belongs to. The network's thread.
boost::asio::awaitable<void> serve_web_socket(
    std::shared_ptr<void> owner, ClientStream& stream,
    const boost::beast::http::request<boost::beast::http::buffer_body>& request, const HttpHead& head,
    SocketSession& session, const WebSocketLimits& limits, HttpRecord& record);

}  // namespace tutti
