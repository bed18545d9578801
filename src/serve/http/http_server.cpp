#include "serve/http/http_server.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <boost/asio.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/field_names.h"
#include "base/try.h"
#include "serve/http/http_connection.h"
#include "serve/http/http_exchange.h"

namespace tutti {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& options, HttpHandler& handler) : all_(options, handler) {}
  ~Server() override {
    network_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> listen();
  std::uint16_t port() const override { return port_; }
  std::size_t connections() const override { return all_.open(); }
  void finish(Seconds most) override;

 private:
  asio::awaitable<void> accept();

  HttpConnections all_;
  asio::io_context network_{1};  // behind what connections still need when they go with it
  std::optional<asio::ssl::context> tls_{};
  tcp::acceptor acceptor_{network_};
  std::uint16_t port_ = 0;
  std::thread thread_{};
};

Result<void> Server::listen() {
  const HttpServerOptions& options = all_.options;
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
  asio::co_spawn(network_, accept(), asio::detached);
  thread_ = std::thread([this] { network_.run(); });
  return {};
}

asio::awaitable<void> Server::accept() {
  asio::steady_timer pause(network_);
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
    if (!all_.admit(address)) continue;  // closed at once
    socket.set_option(tcp::no_delay(true), failed);
    asio::co_spawn(network_, serve_connection(all_, std::move(socket), address, tls_ ? &*tls_ : nullptr),
                   asio::detached);
  }
}

void Server::finish(Seconds most) {
  const auto until = std::chrono::steady_clock::now() + duration_of(most);
  while (all_.answering > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options, HttpHandler& handler) {
  auto server = std::make_unique<Server>(options, handler);
  TRY(server->listen());
  return server;
}

}  // namespace tutti
