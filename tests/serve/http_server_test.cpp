#include "serve/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/owned.h"

using namespace tutti;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// What the handler below is to remember.
struct Seen {
  std::string body{};
  std::vector<std::shared_ptr<HttpExchange>> waiting{};  // of /wait and /stream
  int gone = 0;
};

class Body final : public HttpBody {
 public:
  Body(Guarded<Seen>& seen, std::string path) : seen_(seen), path_(std::move(path)) {}
  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    text_ += bytes;
    if (text_.find("refuse me") != std::string::npos) return tl::unexpected<HttpAnswer>(HttpAnswer{.status = 400});
    return {};
  }
  void complete(std::shared_ptr<HttpExchange> exchange) override {
    if (path_ == "/echo") return exchange->answer({.type = "text/plain", .body = text_});
    exchange->on_gone([&seen = seen_] { seen.change([](Seen& now) { ++now.gone; }); });
    if (path_ == "/stream") exchange->begin_stream({.type = "text/event-stream"});
    seen_.change([&](Seen& now) { now.waiting.push_back(std::move(exchange)); });
  }

 private:
  Guarded<Seen>& seen_;
  const std::string path_;
  std::string text_{};
};

class Handler final : public HttpHandler {
 public:
  std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) override {
    if (head.path == "/no") return HttpAnswer{.status = 413, .body = "too large"};
    return std::make_unique<Body>(seen, head.path);
  }
  HttpAnswer refused(int status, std::string_view why) override { return {.status = status, .body = std::string(why)}; }
  Guarded<Seen> seen{};
};

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{5, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool send(std::string_view text) const {
    return connected_ && ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// What comes until `text` has come, or the end.
  std::string receive_until(std::string_view text) {
    char block[4096];
    while (received_.find(text) == std::string::npos) {
      const auto got = ::recv(fd_.get(), block, sizeof block, 0);
      if (got <= 0) break;
      received_.append(block, static_cast<std::size_t>(got));
    }
    return received_;
  }
  /// The server has closed; false: nothing happened for 5 s.
  bool closed() {
    char block[4096];
    for (;;) {
      const auto got = ::recv(fd_.get(), block, sizeof block, 0);
      if (got == 0) return true;
      if (got < 0) return errno != EAGAIN;
      received_.append(block, static_cast<std::size_t>(got));
    }
  }
  void leave() { fd_ = OwnedFd(); }
  const std::string& received() const { return received_; }

 private:
  OwnedFd fd_;
  bool connected_ = false;
  std::string received_{};
};

class HttpServerTest : public testing::Test {
 protected:
  std::unique_ptr<HttpServer> serve(HttpServerOptions options = {}) {
    auto server = HttpServer::start(options, handler_);
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
  }
  bool saw(const std::function<bool(const Seen&)>& what) { return handler_.seen.wait_for(Seconds(5), what); }
  Handler handler_;
};

using HttpServerTimed = HttpServerTest;

}  // namespace

TEST_F(HttpServerTest, BodyIsAnsweredAndTheConnectionKept) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_THAT(client.receive_until("hello"), StartsWith("HTTP/1.1 200 OK\r\n"));
  ASSERT_TRUE(client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_THAT(client.receive_until("abcde"), HasSubstr("\r\n\r\nabcde"));
}

TEST_F(HttpServerTest, RequestIdOfTheClientComesBack) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine-7\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), HasSubstr("x-request-id: mine-7\r\n"));
}

TEST_F(HttpServerTest, RefusedHeadIsAnsweredBeforeItsBody) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("POST /no HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n"));
  const auto answer = client.receive_until("too large");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(answer.find("100 Continue"), std::string::npos);
}

TEST_F(HttpServerTest, ContinueIsSentToWhoWaitsForIt) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  client.receive_until("100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("ok"));
  EXPECT_THAT(client.receive_until("\r\n\r\nok"), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, RefusalWhileTheBodyComesEndsTheRequest) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nrefuse me"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, GarbageAndHeaderBombsAreRefused) {
  const auto server = serve();
  Client garbage(server->port());
  ASSERT_TRUE(garbage.send("\x01\x02 nonsense\r\n\r\n"));
  EXPECT_THAT(garbage.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  Client bomb(server->port());
  bomb.send("GET /echo HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'x'));
  EXPECT_THAT(bomb.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  Client liar(server->port());
  ASSERT_TRUE(liar.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
  EXPECT_THAT(liar.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, ClientThatLeavesIsReported) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  client.leave();
  EXPECT_TRUE(saw([](const Seen& seen) { return seen.gone == 1; }));
}

TEST_F(HttpServerTest, ClientThatLeavesAStreamIsReported) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  client.leave();
  EXPECT_TRUE(saw([](const Seen& seen) { return seen.gone == 1; }));
}

TEST_F(HttpServerTest, StreamComesInPiecesAndTheConnectionIsKept) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  const auto stream = handler_.seen.with([](Seen& seen) { return seen.waiting[0]; });
  EXPECT_TRUE(stream->send("data: 1\n\n"));
  EXPECT_THAT(client.receive_until("data: 1\n\n"), HasSubstr("9\r\ndata: 1\n\n\r\n"));
  EXPECT_TRUE(stream->send("data: 2\n\n"));
  stream->end_stream();
  EXPECT_THAT(client.receive_until("\r\n0\r\n\r\n"), HasSubstr("data: 2\n\n\r\n0\r\n\r\n"));
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: next\r\n\r\n"));
  EXPECT_THAT(client.receive_until("next"), HasSubstr("x-request-id: next"));
}

TEST_F(HttpServerTest, AnswerThatEndsAtOnceLosesNoPiece) {
  const auto server = serve();
  Client client(server->port());
  ASSERT_TRUE(client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  const auto exchange = handler_.seen.with([](Seen& seen) { return seen.waiting[0]; });
  exchange->begin_stream({.type = "text/event-stream"});
  exchange->send("data: all\n\n");
  exchange->end_stream();
  EXPECT_THAT(client.receive_until("\r\n0\r\n\r\n"), HasSubstr("data: all\n\n"));
}

TEST_F(HttpServerTest, ConnectionsBeyondAnAddresssShareAreClosed) {
  const auto server = serve({.connections_an_address = 2});
  Client first(server->port()), second(server->port()), third(server->port());
  EXPECT_TRUE(third.closed());
  ASSERT_TRUE(first.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(first.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, PortInUseIsNamedWithTheWayOut) {
  const auto server = serve();
  const auto again = HttpServer::start({.port = server->port()}, handler_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text(), HasSubstr("name another port"));
  EXPECT_FALSE(HttpServer::start({.host = "nowhere"}, handler_));
}

TEST_F(HttpServerTimed, SlowHeaderIsDroppedAtItsDeadline) {
  const auto server = serve({.header_deadline = Seconds(0.3)});
  Client slow(server->port());
  const auto begun = Clock::real().now();
  for (int i = 0; i < 20 && slow.send("G"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(slow.closed());
  EXPECT_LT(Seconds(Clock::real().now() - begun), Seconds(3));
}

TEST_F(HttpServerTimed, BodyBelowTheRateIsDropped) {
  const auto server = serve({.body_grace = Seconds(0.3), .body_rate = 1000});
  Client slow(server->port());
  ASSERT_TRUE(slow.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nab"));
  EXPECT_TRUE(slow.closed());
  EXPECT_EQ(slow.received(), "");
}

TEST_F(HttpServerTimed, SlowClientsCostOthersNothing) {
  const auto server = serve();
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<Client>(server->port()));
    ASSERT_TRUE(slow.back()->send("GET /echo HT"));
  }
  Client client(server->port());
  const auto begun = Clock::real().now();
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(Seconds(Clock::real().now() - begun), Seconds(0.5));
}
