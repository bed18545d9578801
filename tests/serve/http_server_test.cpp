#include "serve/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "support/temp_folder.h"
#include "test_certificate.h"

using namespace tutti;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// What the handler below is to remember.
struct Seen {
  std::string body{};
  std::vector<std::shared_ptr<HttpExchange>> waiting{};  // of /wait and /stream
  int gone = 0;
  std::shared_ptr<SocketExchange> socket{};
  int refusals = 0;  // of messages that a socket does not take yet
  std::vector<std::pair<std::string, HttpRecord>> ended{};
};

class Body final : public HttpBody {
 public:
  Body(Guarded<Seen>& seen, std::string path) : seen_(seen), path_(std::move(path)) {}
  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    if (path_ == "/early" && text_.empty()) {
      exchange_->on_gone([&seen = seen_] { seen.change([](Seen& now) { ++now.gone; }); });
      exchange_->begin_stream({.type = "text/event-stream"});
      exchange_->send("early ");
    }
    text_ += bytes;
    if (text_.find("refuse me") != std::string::npos) return tl::unexpected<HttpAnswer>(HttpAnswer{.status = 400});
    return {};
  }
  void begin(const std::shared_ptr<HttpExchange>& exchange) override { exchange_ = exchange; }
  bool answers_already() const override { return path_ == "/early" && !text_.empty(); }
  void complete(std::shared_ptr<HttpExchange> exchange) override {
    if (path_ == "/early") {
      exchange->send("all of " + text_);
      return exchange->end_stream();
    }
    if (path_ == "/echo") return exchange->answer({.type = "text/plain", .body = text_});
    exchange->on_gone([&seen = seen_] { seen.change([](Seen& now) { ++now.gone; }); });
    if (path_ == "/stream") exchange->begin_stream({.type = "text/event-stream"});
    if (path_ == "/beats") exchange->beat_after(Seconds(0.05), {}, "\n");
    if (path_ == "/beating-events") exchange->beat_after(Seconds(0.05), {.type = "text/event-stream"}, ": wait\n\n");
    seen_.change([&](Seen& now) { now.waiting.push_back(std::move(exchange)); });
  }

 private:
  Guarded<Seen>& seen_;
  const std::string path_;
  std::string text_{};
  std::shared_ptr<HttpExchange> exchange_{};
};

/// Answers each text with the same; takes "twice" only when it comes again.
class EchoSocket final : public SocketSession {
 public:
  explicit EchoSocket(Guarded<Seen>& seen) : seen_(seen) {}
  void begin(std::shared_ptr<SocketExchange> exchange) override {
    exchange_ = std::move(exchange);
    seen_.change([&](Seen& now) { now.socket = exchange_; });
  }
  bool take(std::string_view message, bool is_text) override {
    if (message == "twice" && !std::exchange(refused_, true)) {
      seen_.change([](Seen& now) { ++now.refusals; });
      return false;
    }
    if (message == "never") return false;
    exchange_->send(is_text ? std::string(message) : "binary");
    return true;
  }
  void gone() override {
    seen_.change([](Seen& now) { ++now.gone; });
  }
  bool is_over() const override { return true; }

 private:
  Guarded<Seen>& seen_;
  std::shared_ptr<SocketExchange> exchange_{};
  bool refused_ = false;
};

class Handler final : public HttpHandler {
 public:
  std::variant<HttpAnswer, std::unique_ptr<HttpBody>> begin(const HttpHead& head) override {
    if (head.path == "/no") return HttpAnswer{.status = 413, .body = "too large"};
    return std::make_unique<Body>(seen, head.path);
  }
  std::variant<HttpAnswer, std::unique_ptr<SocketSession>> begin_socket(const HttpHead& head) override {
    if (head.path != "/socket") return HttpAnswer{.status = 403, .body = "no socket"};
    return std::make_unique<EchoSocket>(seen);
  }
  HttpAnswer refused(int status, std::string_view why) override { return {.status = status, .body = std::string(why)}; }
  HttpHeaders headers_for(const HttpHead&) override { return {{"x-of-all", "yes"}}; }
  void ended(const HttpHead& head, const HttpRecord& record) override {
    seen.change([&](Seen& now) { now.ended.emplace_back(head.path, record); });
  }
  Guarded<Seen> seen{};
};

/// A client's end, encrypted or not.
class Client {
 public:
  explicit Client(std::uint16_t port, bool tls = false) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{5, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (tls && connected_) shake_hands();
  }
  bool send(std::string_view text) {
    if (!connected_) return false;
    if (tls_) return SSL_write(tls_.get(), text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// What comes until `text` has come, or the end.
  std::string receive_until(std::string_view text) {
    while (received_.find(text) == std::string::npos && receive() > 0) {
    }
    return received_;
  }
  /// The server has closed; false: nothing happened for 5 s.
  bool closed() {
    for (;;) {
      errno = 0;
      const auto got = receive();
      if (got == 0) return true;
      if (got < 0) return errno != EAGAIN;
    }
  }
  void leave() {
    if (tls_) SSL_shutdown(tls_.get());
    fd_ = OwnedFd();
  }
  const std::string& received() const { return received_; }

 private:
  void shake_hands() {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    tls_.reset(SSL_new(context.get()));
    SSL_set_fd(tls_.get(), fd_.get());
    connected_ = SSL_connect(tls_.get()) == 1;
  }
  ssize_t receive() {
    char block[4096];
    const ssize_t got = tls_ ? SSL_read(tls_.get(), block, sizeof block) : ::recv(fd_.get(), block, sizeof block, 0);
    if (got > 0) received_.append(block, static_cast<std::size_t>(got));
    return got;
  }

  OwnedFd fd_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, SSL_free};
  bool connected_ = false;
  std::string received_{};
};

TlsIdentity identity_of_test() {
  const TempFolder folder;
  write_certificate(folder.path());
  auto identity = read_tls_identity({folder.path() / "cert.pem", folder.path() / "key.pem"});
  EXPECT_TRUE(identity) << identity.error().text();
  return *identity;
}

/// In the clear, and encrypted.
class HttpServerTest : public testing::TestWithParam<bool> {
 protected:
  HttpServerTest() { ::signal(SIGPIPE, SIG_IGN); }  // OpenSSL writes to connections that the server has closed

  std::unique_ptr<HttpServer> serve(HttpServerOptions options = {}) {
    if (GetParam()) options.tls = identity_of_test();
    auto server = HttpServer::start(options, handler_);
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
  }
  bool saw(const std::function<bool(const Seen&)>& what) { return handler_.seen.wait_for(Seconds(5), what); }
  Handler handler_;
};

class HttpServerTimed : public HttpServerTest {};

std::string name_of(const testing::TestParamInfo<bool>& kind) {
  return kind.param ? "Tls" : "Clear";
}
INSTANTIATE_TEST_SUITE_P(, HttpServerTest, testing::Bool(), name_of);
INSTANTIATE_TEST_SUITE_P(, HttpServerTimed, testing::Bool(), name_of);

}  // namespace

TEST_P(HttpServerTest, BodyIsAnsweredAndTheConnectionKept) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_THAT(client.receive_until("hello"), StartsWith("HTTP/1.1 200 OK\r\n"));
  ASSERT_TRUE(client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_THAT(client.receive_until("abcde"), HasSubstr("\r\n\r\nabcde"));
}

TEST_P(HttpServerTest, AnswerThatWaitsBeatsAndStaysValid) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /beats HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n1\r\n\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  handler_.seen.with([](Seen& now) { now.waiting.back()->answer({.body = "{\"text\": \"\"}"}); });
  EXPECT_THAT(client.receive_until("0\r\n\r\n"), HasSubstr("{\"text\": \"\"}\r\n0\r\n\r\n"));
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nnext"));
  EXPECT_THAT(client.receive_until("\r\n\r\nnext"), HasSubstr("next")) << "the connection goes on";
}

TEST_P(HttpServerTest, FailureBehindBeatsIsCutOffAndNoSuccess) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /beats HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  client.receive_until("\r\n\r\n1\r\n\n\r\n");
  handler_.seen.with([](Seen& now) { now.waiting.back()->answer({.status = 503, .body = "no device"}); });
  EXPECT_TRUE(client.closed());
  EXPECT_THAT(client.received(), HasSubstr("no device"));
  EXPECT_EQ(client.received().find("0\r\n\r\n"), std::string::npos) << "a client takes the body for complete";
}

TEST_P(HttpServerTest, FailureBehindBeatsOfAStreamIsAnEvent) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /beating-events HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(client.receive_until(": wait\n\n"), HasSubstr("X-Accel-Buffering: no\r\n"));
  handler_.seen.with([](Seen& now) { now.waiting.back()->answer({.status = 503, .body = "{}\n"}); });
  EXPECT_THAT(client.receive_until("0\r\n\r\n"), HasSubstr("data: {}\n\n\r\n0\r\n\r\n"));
}

TEST_P(HttpServerTest, HeadThatProxiesReadOtherwiseIsRefused) {
  const auto server = serve();
  for (const char* head : {"POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
                           "POST /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n"}) {
    Client client(server->port(), GetParam());
    ASSERT_TRUE(client.send(head));
    EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 ")) << head;
  }
  Client zipped(server->port(), GetParam());
  ASSERT_TRUE(zipped.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"));
  EXPECT_THAT(zipped.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 501 "));
}

TEST_P(HttpServerTest, EveryAnswerHasItsDateAndTheHandlersHeaders) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"));
  const auto answer = client.receive_until("too large");
  EXPECT_THAT(answer, HasSubstr("Date: "));
  EXPECT_THAT(answer, HasSubstr(" GMT\r\n"));
  EXPECT_THAT(answer, HasSubstr("x-of-all: yes\r\n"));
}

TEST_P(HttpServerTest, EndOfEveryRequestIsReported) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"));
  client.receive_until("hello");
  Client refused(server->port(), GetParam());
  ASSERT_TRUE(refused.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"));
  EXPECT_TRUE(saw([](const Seen& now) { return now.ended.size() == 2; }));
  handler_.seen.with([](Seen& now) {
    const auto& [path, echoed] = now.ended[0];
    EXPECT_EQ(path, "/echo");
    EXPECT_EQ(echoed.status, 200);
    EXPECT_EQ(echoed.received, 5U);
    EXPECT_EQ(echoed.sent, 5U);
    EXPECT_EQ(now.ended[1].second.status, 413);
  });
}

TEST_P(HttpServerTest, RequestIdOfTheClientComesBack) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine-7\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), HasSubstr("x-request-id: mine-7\r\n"));
}

TEST_P(HttpServerTest, RefusedHeadIsAnsweredBeforeItsBody) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /no HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n"));
  const auto answer = client.receive_until("too large");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(answer.find("100 Continue"), std::string::npos);
}

TEST_P(HttpServerTest, ContinueIsSentToWhoWaitsForIt) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  client.receive_until("100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("ok"));
  EXPECT_THAT(client.receive_until("\r\n\r\nok"), HasSubstr("200 OK"));
}

TEST_P(HttpServerTest, RefusalWhileTheBodyComesEndsTheRequest) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nrefuse me"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_P(HttpServerTest, GarbageAndHeaderBombsAreRefused) {
  const auto server = serve();
  Client garbage(server->port(), GetParam());
  ASSERT_TRUE(garbage.send("\x01\x02 nonsense\r\n\r\n"));
  EXPECT_THAT(garbage.receive_until("\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("x-request-id: req_")));
  Client bomb(server->port(), GetParam());
  bomb.send("GET /echo HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'x'));
  EXPECT_THAT(bomb.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  Client liar(server->port(), GetParam());
  ASSERT_TRUE(liar.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
  EXPECT_THAT(liar.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_P(HttpServerTest, ClientThatLeavesIsReported) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  client.leave();
  EXPECT_TRUE(saw([](const Seen& seen) { return seen.gone == 1; }));
}

TEST_P(HttpServerTest, ClientThatLeavesAStreamIsReported) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  client.leave();
  EXPECT_TRUE(saw([](const Seen& seen) { return seen.gone == 1; }));
}

TEST_P(HttpServerTest, StreamComesInPiecesAndTheConnectionIsKept) {
  const auto server = serve();
  Client client(server->port(), GetParam());
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

TEST_P(HttpServerTest, AnswerThatEndsAtOnceLosesNoPiece) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  const auto exchange = handler_.seen.with([](Seen& seen) { return seen.waiting[0]; });
  exchange->begin_stream({.type = "text/event-stream"});
  exchange->send("data: all\n\n");
  exchange->end_stream();
  EXPECT_THAT(client.receive_until("\r\n0\r\n\r\n"), HasSubstr("data: all\n\n"));
}

TEST_P(HttpServerTest, AnswerMayBeginBeforeTheBodyIsComplete) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc"));
  EXPECT_THAT(client.receive_until("early "), HasSubstr("early "));
  ASSERT_TRUE(client.send("def"));
  EXPECT_THAT(client.receive_until("0\r\n\r\n"), HasSubstr("all of abcdef"));
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nnext"));
  EXPECT_THAT(client.receive_until("\r\n\r\nnext"), HasSubstr("next")) << "the connection goes on";
}

TEST_P(HttpServerTest, ClientThatLeavesWithinItsBodyEndsTheAnswer) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc"));
  client.receive_until("early ");
  client.leave();
  EXPECT_TRUE(saw([](const Seen& now) { return now.gone == 1 && now.ended.size() == 1; }));
}

/// A request for a WebSocket, with the key of RFC 6455.
std::string upgrade(const std::string& path) {
  return "GET " + path +
         " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Protocol: realtime, secret\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

/// A short message of a client, masked by zeros.
std::string frame(std::string_view message, char kind = '\x81') {
  return std::string{kind, static_cast<char>(0x80 | message.size()), 0, 0, 0, 0} + std::string(message);
}

TEST_P(HttpServerTest, WebSocketTakesMessagesAndSendsThem) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send(upgrade("/socket")));
  const std::string head = client.receive_until("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(head, HasSubstr("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  EXPECT_THAT(head, HasSubstr("Sec-WebSocket-Protocol: realtime\r\n"));
  ASSERT_TRUE(client.send(frame("hello") + frame("\x01", '\x82')));
  EXPECT_THAT(client.receive_until("binary"), HasSubstr("\x81\x05hello"));
  ASSERT_TRUE(client.send(frame("twice")));
  EXPECT_THAT(client.receive_until("twice"), HasSubstr("\x81\x05twice"));
  EXPECT_TRUE(saw([](const Seen& now) { return now.refusals == 1; }));
  handler_.seen.with([](Seen& now) { now.socket->close(1001, "bye"); });
  EXPECT_THAT(client.receive_until("bye"), HasSubstr("\x88\x05\x03\xE9"
                                                     "bye"));
  client.leave();
  EXPECT_TRUE(saw([](const Seen& now) { return now.gone == 1 && now.ended.size() == 1; }));
  handler_.seen.with([](Seen& now) { now.socket->send("to none"); });
}

TEST_P(HttpServerTest, WebSocketOfAClientThatLeavesIsGone) {
  const auto server = serve();
  for (const char* last : {"hello", "never"}) {
    const int gone = handler_.seen.with([](const Seen& now) { return now.gone; });
    Client client(server->port(), GetParam());
    ASSERT_TRUE(client.send(upgrade("/socket")));
    client.receive_until("\r\n\r\n");
    ASSERT_TRUE(client.send(frame(last)));
    client.leave();
    EXPECT_TRUE(saw([gone](const Seen& now) { return now.gone == gone + 1; })) << last;
  }
}

TEST_P(HttpServerTest, MessageThatIsTooLongClosesTheWebSocket) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send(upgrade("/socket")));
  client.receive_until("\r\n\r\n");
  ASSERT_TRUE(client.send(std::string("\x81\xFF\0\0\0\0\x7F\0\0\0\0\0\0\0", 14)));  // two gigabytes to come
  EXPECT_THAT(client.receive_until("\x03\xF1"), HasSubstr("\x03\xF1")) << "1009";
  EXPECT_TRUE(saw([](const Seen& now) { return now.gone == 1; }));
}

TEST_P(HttpServerTest, WebSocketThatIsRefusedGetsAnAnswer) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send(upgrade("/elsewhere")));
  EXPECT_THAT(client.receive_until("no socket"), StartsWith("HTTP/1.1 403 "));
}

TEST_P(HttpServerTest, ConnectionsBeyondAnAddresssShareAreClosed) {
  const auto server = serve({.connections_an_address = 2});
  Client first(server->port(), GetParam()), second(server->port(), GetParam()), third(server->port(), GetParam());
  EXPECT_TRUE(third.closed());
  ASSERT_TRUE(first.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(first.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_P(HttpServerTest, PortInUseIsNamedWithTheWayOut) {
  const auto server = serve();
  const auto again = HttpServer::start({.port = server->port()}, handler_);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text(), HasSubstr("name another port"));
  EXPECT_FALSE(HttpServer::start({.host = "nowhere"}, handler_));
}

TEST_P(HttpServerTimed, SlowHeaderIsDroppedAtItsDeadline) {
  const auto server = serve({.header_deadline = Seconds(0.3)});
  Client slow(server->port(), GetParam());
  const auto begun = Clock::real().now();
  for (int i = 0; i < 20 && slow.send("G"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(slow.closed());
  EXPECT_LT(Seconds(Clock::real().now() - begun), Seconds(3));
}

TEST_P(HttpServerTimed, BodyBelowTheRateIsDropped) {
  const auto server = serve({.body_grace = Seconds(0.3), .body_rate = 1000});
  Client slow(server->port(), GetParam());
  ASSERT_TRUE(slow.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nab"));
  EXPECT_TRUE(slow.closed());
  EXPECT_EQ(slow.received(), "");
}

TEST_P(HttpServerTimed, SlowClientsCostOthersNothing) {
  const auto server = serve();
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(std::make_unique<Client>(server->port(), GetParam()));
    ASSERT_TRUE(slow.back()->send("GET /echo HT"));
  }
  Client client(server->port(), GetParam());
  const auto begun = Clock::real().now();
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(Seconds(Clock::real().now() - begun), Seconds(0.5));
}

TEST_P(HttpServerTest, NextRequestThatComesEarlyIsAnsweredInTurn) {
  const auto server = serve();
  Client client(server->port(), GetParam());
  ASSERT_TRUE(client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(saw([](const Seen& seen) { return seen.waiting.size() == 1; }));
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\n" + std::string(3000, 'n')));
  const auto first = handler_.seen.with([](Seen& seen) { return seen.waiting[0]; });
  first->answer({.type = "text/plain", .body = "first"});
  EXPECT_THAT(client.receive_until(std::string(3000, 'n')), HasSubstr("\r\n\r\nfirstHTTP/1.1 200 OK\r\n"));
}

TEST(HttpsServer, ClientInTheClearGetsAnAnswerThatItReads) {
  Handler handler;
  const auto server = HttpServer::start({.tls = identity_of_test()}, handler);
  ASSERT_TRUE(server) << server.error().text();
  Client client((*server)->port());
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.receive_until("https://"), StartsWith("HTTP/1.1 400 "));
}

TEST(HttpsServerTimed, HandshakeThatStallsIsDroppedAtItsDeadline) {
  Handler handler;
  const auto server = HttpServer::start({.tls = identity_of_test(), .header_deadline = Seconds(0.3)}, handler);
  ASSERT_TRUE(server) << server.error().text();
  Client silent((*server)->port()), halting((*server)->port());
  ASSERT_TRUE(halting.send(std::string("\x16\x03\x01\x02\x00\x01", 6)));  // a first message of which more should come
  Client client((*server)->port(), /*tls=*/true);
  ASSERT_TRUE(client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 ")) << "the others hold up no client";
  const auto begun = Clock::real().now();
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(halting.closed());
  EXPECT_LT(Seconds(Clock::real().now() - begun), Seconds(3));
}
