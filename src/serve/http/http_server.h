#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "serve/http/http.h"
#include "serve/http/tls.h"

namespace tutti {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  TlsIdentity tls{};       // HTTPS with it; none: HTTP in the clear
  Seconds header_deadline{
      10};           // with the handshake: from the connection, or the first byte of a later request, to the head's end
  Seconds idle{75};  // between two requests of a connection
  Seconds body_grace{5};       // before the rate counts
  double body_rate = 4096;     // bytes a second that a body must come at
  Seconds write_deadline{30};  // deadline for a piece of an answer
  std::size_t head_bytes = 16384;
  std::size_t stream_bytes = std::size_t{4} << 20;  // waiting for a client that reads slowly, before it is dropped
  std::size_t connections_an_address = 4096;
};

/// HTTP/1.1 over TCP, or over TLS, by one thread that only moves bytes: a thousand slow clients cost no other client
/// anything. Handler and exchanges are called from it; it must never wait in them.
class HttpServer {
 public:
  /// Listens and serves until it goes. `handler` outlives it. Fault::usage for an address that is none;
  /// Fault::refused or ::unavailable where it cannot be listened on, with the way out.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options, HttpHandler& handler);
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;
  /// Waits until every answer that was begun is sent, but no longer than `most`.
  virtual void finish(Seconds most) = 0;
};

}  // namespace tutti
