#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/guarded.h"

namespace tutti {

/// Tools that serve one thread at a time and are dear to make. Thread-safe.
template <class T>
class Shelf {
 public:
  /// Calls `fn(T&)` with a tool that no other thread has.
  template <class Fn>
  auto with(Fn&& fn) {
    auto tool = free_.with([](auto& free) {
      if (free.empty()) return std::unique_ptr<T>();
      auto last = std::move(free.back());
      free.pop_back();
      return last;
    });
    if (!tool) tool = std::make_unique<T>();
    auto result = fn(*tool);
    free_.with([&](auto& free) { free.push_back(std::move(tool)); });
    return result;
  }

 private:
  Guarded<std::vector<std::unique_ptr<T>>> free_;
};

}  // namespace tutti
