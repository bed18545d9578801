#include "serve/answer_threads.h"

#include "serve/openai/api_error.h"

namespace tutti {

tl::expected<void, HttpAnswer> EmptyBody::take(std::string_view bytes) {
  constexpr std::size_t kMost = 65536;
  size_ += bytes.size();
  if (size_ <= kMost) return {};
  return tl::unexpected<HttpAnswer>(answer_of({.status = 413, .message = "expected no body"}));
}

AnswerThreads::AnswerThreads(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

AnswerThreads::~AnswerThreads() {
  tasks_.change([](Tasks& tasks) { tasks.over = true; });
  threads_.clear();
}

void AnswerThreads::work() {
  for (;;) {
    std::function<void()> task;
    const bool over = tasks_.wait([](const Tasks& tasks) { return tasks.over || !tasks.waiting.empty(); },
                                  [&](Tasks& tasks) {
                                    if (tasks.over) return true;
                                    task = std::move(tasks.waiting.front());
                                    tasks.waiting.pop_front();
                                    return false;
                                  });
    if (over) return;
    task();
  }
}

void AnswerThreads::run(const std::shared_ptr<HttpExchange>& exchange, std::function<void()> task) {
  bool full = false;
  tasks_.change([&](Tasks& tasks) {
    full = tasks.waiting.size() >= most_waiting_;
    if (!full) tasks.waiting.push_back(std::move(task));
  });
  if (full) exchange->answer(answer_of({.status = 503, .message = "too many requests wait for an answer"}));
}

void AnswerThreads::answer(const std::shared_ptr<HttpExchange>& exchange, Make make) {
  run(exchange, [exchange, make = std::move(make)] { exchange->answer(make()); });
}

std::unique_ptr<HttpBody> AnswerThreads::later(Make make) {
  return std::make_unique<EmptyBody>([this, make = std::move(make)](const auto& exchange) { answer(exchange, make); });
}

}  // namespace tutti
