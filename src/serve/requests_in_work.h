#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/guarded.h"
#include "serve/http/http.h"

namespace tutti {

/// Requests from their heads to the ends of their answers, for a server that ends when it has been idle. Thread-safe.
class RequestsInWork {
 public:
  struct Numbers {
    std::size_t in_work = 0;
    Clock::Instant last_end = Clock::real().now();  // of a request, or the start
  };

  Numbers now() const {
    return numbers_.with([](const Numbers& numbers) { return numbers; });
  }
  void begin() {
    numbers_.with([](Numbers& numbers) { ++numbers.in_work; });
  }
  void end() {
    numbers_.with([](Numbers& numbers) {
      --numbers.in_work;
      numbers.last_end = Clock::real().now();
    });
  }

 private:
  Guarded<Numbers> numbers_{};
};

/// Takes the body of a request, and counts the request for as long as it exists: the server has it until the answer is
/// sent.
class CountedBody final : public HttpBody {
 public:
  CountedBody(RequestsInWork& requests, std::unique_ptr<HttpBody> body) : requests_(requests), body_(std::move(body)) {
    requests_.begin();
  }
  CountedBody(const CountedBody&) = delete;
  CountedBody& operator=(const CountedBody&) = delete;
  ~CountedBody() override { requests_.end(); }

  void begin(const std::shared_ptr<HttpExchange>& exchange) override { body_->begin(exchange); }
  bool answers_already() const override { return body_->answers_already(); }
  tl::expected<void, HttpAnswer> take(std::string_view bytes) override { return body_->take(bytes); }
  void complete(std::shared_ptr<HttpExchange> exchange) override { body_->complete(std::move(exchange)); }
  bool is_over() const override { return body_->is_over(); }

 private:
  RequestsInWork& requests_;
  const std::unique_ptr<HttpBody> body_;
};

}  // namespace tutti
