#include "serve/http/answer_sender.h"

#include <array>
#include <boost/beast.hpp>
#include <cstdio>
#include <utility>

#include "serve/http/http_messages.h"

namespace tutti {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kKeepAlive = std::chrono::seconds(15);
constexpr std::size_t kDropped = std::size_t{64} << 10;  // bytes at once

}  // namespace

asio::awaitable<error_code> AnswerSender::write(std::string_view bytes) {
  error_code failed;
  stream_.tcp().expires_after(duration_of(options_.write_deadline));
  co_await asio::async_write(stream_, asio::buffer(bytes), asio::redirect_error(use_awaitable, failed));
  stream_.tcp().expires_never();
  co_return failed;
}

std::function<void()> AnswerSender::waker(std::weak_ptr<void> owner) {
  return [this, owner = std::move(owner), network = stream_.get_executor()] {
    asio::post(network, [this, owner] {
      if (const auto alive = owner.lock()) wake_.cancel();
    });
  };
}

asio::awaitable<void> AnswerSender::wait_for_exchange(std::chrono::steady_clock::duration most) {
  wake_.expires_after(most);
  error_code ignored;
  co_await wake_.async_wait(asio::redirect_error(use_awaitable, ignored));
}

asio::awaitable<bool> AnswerSender::send_stream(const std::shared_ptr<ConnectionExchange>& exchange, HttpAnswer head,
                                                unsigned version) {
  const bool chunked = version >= 11;
  const bool events = head.type.starts_with("text/event-stream");
  if (events) head.headers.emplace_back("X-Accel-Buffering", "no");  // nginx would hold events back
  record.status = head.status;
  auto response = response_of(std::move(head), exchange->head(), version, chunked, handler_);
  if (chunked) response.chunked(true);
  http::response_serializer<http::string_body> serializer(response);
  error_code failed;
  stream_.tcp().expires_after(duration_of(options_.write_deadline));
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
      record.sent += next.piece.size();
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

asio::awaitable<bool> AnswerSender::send(std::shared_ptr<ConnectionExchange> exchange, unsigned version, bool keep) {
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
    record.status = next.head->status;
    record.sent = next.head->body.size();
    auto response = response_of(std::move(*next.head), exchange->head(), version, keep, handler_);
    if (exchange->head().method == "HEAD") {
      response.content_length(response.body().size());
      response.body().clear();
    } else {
      response.prepare_payload();
    }
    error_code failed;
    stream_.tcp().expires_after(duration_of(options_.write_deadline));
    http::response_serializer<http::string_body> serializer(response);
    co_await http::async_write(stream_, serializer, asio::redirect_error(use_awaitable, failed));
    stream_.tcp().expires_never();
    co_return !failed;
  }
}

asio::awaitable<void> AnswerSender::refuse(HttpAnswer answer, const HttpHead& head, unsigned version) {
  record.status = answer.status;
  record.sent = answer.body.size();
  auto response = response_of(std::move(answer), head, version, /*keep=*/false, handler_);
  response.prepare_payload();
  error_code failed;
  stream_.tcp().expires_after(duration_of(options_.write_deadline));
  http::response_serializer<http::string_body> serializer(response);
  co_await http::async_write(stream_, serializer, asio::redirect_error(use_awaitable, failed));
  if (failed) co_return;
  auto& tcp = stream_.tcp();  // where it is encrypted, what comes is not worth decrypting
  tcp.socket().shutdown(tcp::socket::shutdown_send, failed);
  std::array<char, kDropped> dropped;
  tcp.expires_after(kLinger);
  while (!failed) co_await tcp.async_read_some(asio::buffer(dropped), asio::redirect_error(use_awaitable, failed));
}

}  // namespace tutti
