#pragma once

#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "serve/http/client_stream.h"
#include "serve/http/http.h"
#include "serve/http/http_server.h"

namespace tutti {

/// What the connections of a server share. Of the network's thread, but for what is atomic.
class HttpConnections {
 public:
  HttpConnections(const HttpServerOptions& given, HttpHandler& with) : options(given), handler(with) {}

  /// False: the client at this address has as many as it may.
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
  std::size_t open() const { return open_; }
  /// Of a request: no other one has it, also none of the server before this one.
  std::uint64_t next_number() { return birth_ + ++requests_; }

  const HttpServerOptions options;
  HttpHandler& handler;
  std::atomic<int> answering{0};  ///< requests between their head and the end of their answer

 private:
  std::atomic<std::size_t> open_{0};
  std::map<std::string, std::size_t> of_address_{};
  std::uint64_t requests_ = 0;
  const std::uint64_t birth_ = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
};

/// Serves a connection that was admitted until it ends: requests come one after the other. `tls`: null for one in the
/// clear. `all` and `tls` outlive it.
boost::asio::awaitable<void> serve_connection(HttpConnections& all, boost::asio::ip::tcp::socket socket,
                                              std::string address, boost::asio::ssl::context* tls);

}  // namespace tutti
