#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "base/units.h"
#include "net/url_fetch.h"

namespace tutti {

struct JobCallbackOptions {
  UrlLimits limits{};                                    // which addresses clients may name
  std::vector<Seconds> pauses{Seconds(1), Seconds(30)};  // before each further try
  std::size_t most_waiting = 10000;                      // messages; further ones push the oldest out, with a warning
};

/// POSTs the JSON of jobs that have ended to the addresses that their clients named, from threads of its own: no one
/// waits for a slow address but other callbacks. What waits when it goes is dropped. Thread-safe.
class JobCallbacks {
 public:
  explicit JobCallbacks(JobCallbackOptions options);
  ~JobCallbacks();
  JobCallbacks(const JobCallbacks&) = delete;
  JobCallbacks& operator=(const JobCallbacks&) = delete;

  void send(std::string url, std::string json);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Message {
    std::string url{}, json{};
    std::size_t tried = 0;
    Instant due{};
  };
  struct Queue {
    std::deque<Message> waiting{};
    bool over = false;
  };

  void work();
  bool over() const {
    return queue_.with([](const Queue& queue) { return queue.over; });
  }

  const JobCallbackOptions options_;
  Guarded<Queue> queue_{};
  std::vector<std::jthread> threads_{};
};

}  // namespace tutti
