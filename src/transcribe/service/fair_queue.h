#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/job_class.h"

namespace tutti {

/// Requests that wait for their turn: the most urgent class first, and within it the clients one after the other,
/// however many requests each of them has. Not thread-safe.
template <class T>
class FairQueue {
 public:
  void push(JobClass urgency, const std::string& client, T item) {
    Class& waiting = classes_[urgency];
    auto& own = waiting.by_client[client];
    if (own.empty()) waiting.turns.push_back(client);
    own.push_back(std::move(item));
  }

  /// The next one; `most` is the least urgent class that counts. None: nothing waits.
  std::optional<T> pop(JobClass most = JobClass::batch) {
    for (auto& [urgency, waiting] : classes_) {
      if (urgency > most) break;
      if (waiting.turns.empty()) continue;
      const std::string client = std::move(waiting.turns.front());
      waiting.turns.pop_front();
      auto& own = waiting.by_client[client];
      T item = std::move(own.front());
      own.pop_front();
      if (own.empty())
        waiting.by_client.erase(client);
      else
        waiting.turns.push_back(client);
      return item;
    }
    return std::nullopt;
  }

  /// Takes one out, wherever it waits. False: it does not.
  bool remove(const T& item) {
    for (auto& [urgency, waiting] : classes_)
      for (auto& [client, own] : waiting.by_client) {
        const auto found = std::ranges::find(own, item);
        if (found == own.end()) continue;
        own.erase(found);
        if (own.empty()) {
          std::erase(waiting.turns, client);
          waiting.by_client.erase(client);
        }
        return true;
      }
    return false;
  }

  /// Calls `fn` for every one that waits, the most urgent class first.
  template <class Fn>
  void each(Fn fn) const {
    for (const auto& [urgency, waiting] : classes_)
      for (const auto& [client, own] : waiting.by_client) std::ranges::for_each(own, fn);
  }

  std::size_t size(JobClass most = JobClass::batch) const {
    std::size_t count = 0;
    for (const auto& [urgency, waiting] : classes_)
      if (urgency <= most)
        for (const auto& [client, own] : waiting.by_client) count += own.size();
    return count;
  }

 private:
  struct Class {
    std::map<std::string, std::deque<T>> by_client{};  // those with something waiting
    std::deque<std::string> turns{};
  };
  std::map<JobClass, Class> classes_{};
};

}  // namespace tutti
