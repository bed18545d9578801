#include "serve/alerts/webhook.h"

#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "base/try.h"
#include "net/http.h"
#include "net/url_fetch.h"

namespace tutti {
namespace {

constexpr double kLonger = 5;  // each pause than the one before

bool is_accepted(int status) {
  return status >= 200 && status < 300;
}

bool is_final(int status) {
  return status >= 400 && status < 500 && status != 408 && status != 429;
}

class Sender final : public Webhook {
 public:
  Sender(WebhookOptions options, Http http) : options_(std::move(options)), http_(std::move(http)) {
    thread_ = std::jthread([this] { work(); });
  }
  ~Sender() override {
    queue_.change([](Queue& queue) { queue.over = true; });
  }

  void send(std::string json) override {
    bool dropped = false;
    queue_.change([&](Queue& queue) {
      dropped = queue.waiting.size() >= options_.most_waiting;
      if (dropped) queue.waiting.pop_front();
      queue.waiting.push_back(std::move(json));
    });
    if (dropped) log(Level::warning, where() + " is behind: its oldest alert is dropped");
  }

 private:
  struct Queue {
    std::deque<std::string> waiting{};
    bool over = false;
  };

  std::string where() const { return "the webhook at " + origin_of(options_.url); }
  bool over() const {
    return queue_.with([](const Queue& queue) { return queue.over; });
  }

  void work() {
    for (;;) {
      std::string json;
      const bool over = queue_.wait([](const Queue& queue) { return queue.over || !queue.waiting.empty(); },
                                    [&](Queue& queue) {
                                      if (queue.over) return true;
                                      json = std::move(queue.waiting.front());
                                      queue.waiting.pop_front();
                                      return false;
                                    });
      if (over) return;
      deliver(json);
    }
  }

  void deliver(const std::string& json) {
    Seconds pause = options_.first_wait;
    for (int tried = 1;; ++tried) {
      const HttpReply reply = post(json);
      if (is_accepted(reply.status) || over()) return;
      const std::string why =
          reply.status > 0 ? "it answered with status " + std::to_string(reply.status) : reply.failure;
      if (is_final(reply.status) || tried >= options_.tries)
        return log(Level::warning, where() + " did not take an alert, which is dropped: " + why);
      if (tried == 1) log(Level::info, where() + " did not take an alert, and gets it again: " + why);
      if (queue_.wait_for(pause, [](const Queue& queue) { return queue.over; })) return;
      pause *= kLonger;
    }
  }

  HttpReply post(const std::string& json) {
    const auto until = std::chrono::steady_clock::now() + options_.patience;
    const auto goes_on = [&] { return !over() && std::chrono::steady_clock::now() < until; };
    auto reply = http_.get(
        {.url = options_.url, .headers = {"Content-Type: application/json", "User-Agent: tutti"}, .body = json},
        [](const HttpReply&, std::string_view) { return true; }, goes_on);
    if (std::chrono::steady_clock::now() >= until) reply.failure = "it did not answer in time";
    return reply;
  }

  const WebhookOptions options_;
  Http http_;  // the thread's
  Guarded<Queue> queue_{};
  std::jthread thread_{};
};

}  // namespace

Result<std::unique_ptr<Webhook>> Webhook::start(WebhookOptions options) {
  TRY(check_url(options.url));
  auto http = TRY(Http::load());
  return std::make_unique<Sender>(std::move(options), std::move(http));
}

}  // namespace tutti
