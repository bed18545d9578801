#include "serve/jobs/job_callbacks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"

namespace tutti {
namespace {

constexpr std::size_t kThreads = 4;
constexpr Seconds kLookEvery{0.5};  // at whether a further try is due

}  // namespace

JobCallbacks::JobCallbacks(JobCallbackOptions options) : options_(std::move(options)) {
  for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
}

JobCallbacks::~JobCallbacks() {
  queue_.change([](Queue& queue) { queue.over = true; });
  threads_.clear();
}

void JobCallbacks::send(std::string url, std::string json) {
  bool dropped = false;
  queue_.change([&](Queue& queue) {
    dropped = queue.waiting.size() >= options_.most_waiting;
    if (dropped) queue.waiting.pop_front();
    queue.waiting.push_back({.url = std::move(url), .json = std::move(json)});
  });
  if (dropped) log(Level::warning, "callbacks of jobs are behind: the oldest one is dropped");
}

void JobCallbacks::work() {
  for (;;) {
    const auto is_due = [](const Message& message) { return message.due <= std::chrono::steady_clock::now(); };
    queue_.wait_for(kLookEvery,
                    [&](const Queue& queue) { return queue.over || std::ranges::any_of(queue.waiting, is_due); });
    std::optional<Message> message;
    const bool over = queue_.with([&](Queue& queue) {
      const auto found = std::ranges::find_if(queue.waiting, is_due);
      if (queue.over || found == queue.waiting.end()) return queue.over;
      message = std::move(*found);
      queue.waiting.erase(found);
      return false;
    });
    if (over) return;
    if (!message) continue;
    const auto posted = post_to_url(message->url, message->json, options_.limits, [this] { return !this->over(); });
    if (posted) continue;
    if (posted.error().fault != Fault::unavailable || message->tried >= options_.pauses.size()) {
      log(Level::warning, "a job's callback is given up: " + posted.error().what);
      continue;
    }
    message->due = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<Instant::duration>(options_.pauses[message->tried++]);
    queue_.change([&](Queue& queue) { queue.waiting.push_back(std::move(*message)); });
  }
}

}  // namespace tutti
