#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "serve/http/http.h"

namespace tutti {

/// The body of a request that needs none: it is dropped, and the request is answered once it is complete.
class EmptyBody final : public HttpBody {
 public:
  using Then = std::function<void(const std::shared_ptr<HttpExchange>&)>;
  explicit EmptyBody(Then then) : then_(std::move(then)) {}

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override;
  void complete(std::shared_ptr<HttpExchange> exchange) override { then_(exchange); }

 private:
  Then then_;
  std::size_t size_ = 0;
};

/// Threads that make answers which wait for a disk, a store or another process, because the network's thread must not.
/// What still waits when it goes is not answered. Thread-safe.
class AnswerThreads {
 public:
  using Make = std::function<HttpAnswer()>;
  /// Beyond `most_waiting` requests each is answered with 503.
  AnswerThreads(std::size_t threads, std::size_t most_waiting);
  ~AnswerThreads();
  AnswerThreads(const AnswerThreads&) = delete;
  AnswerThreads& operator=(const AnswerThreads&) = delete;

  /// Answers `exchange` with what `make` returns.
  void answer(const std::shared_ptr<HttpExchange>& exchange, Make make);
  /// The same for a task that answers by itself, as a stream of events does.
  void run(const std::shared_ptr<HttpExchange>& exchange, std::function<void()> task);
  /// The body of a request that needs none, answered with what `make` returns.
  std::unique_ptr<HttpBody> later(Make make);

 private:
  struct Tasks {
    std::deque<std::function<void()>> waiting{};
    bool over = false;
  };

  void work();

  const std::size_t most_waiting_;
  Guarded<Tasks> tasks_{};
  std::vector<std::jthread> threads_{};
};

}  // namespace tutti
