#pragma once

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/guarded.h"

namespace tutti {

/// A value that many callers need and one of them computes. Thread-safe.
template <class Value>
class OnceValue {
 public:
  /// The value; by `compute()`, a Result of it, where there is none yet. Meanwhile others wait. Where that fails, only
  /// its own caller gets the error, and the next one computes.
  template <class Compute>
  Result<Value> get(Compute compute) {
    if (auto known = known_or_begun()) return std::move(*known);
    try {
      Result<Value> value = compute();
      end(value ? std::optional(*value) : std::nullopt);
      return value;
    } catch (...) {
      end(std::nullopt);
      throw;
    }
  }

 private:
  struct State {
    bool is_computed_now = false;
    std::optional<Value> value{};
  };

  /// None: the caller is to compute it.
  std::optional<Value> known_or_begun() {
    return state_.wait([](const State& state) { return state.value || !state.is_computed_now; },
                       [](State& state) {
                         state.is_computed_now = !state.value;
                         return state.value;
                       });
  }
  void end(std::optional<Value> value) {
    state_.change([&](State& state) { state = {.is_computed_now = false, .value = std::move(value)}; });
  }

  Guarded<State> state_{};
};

}  // namespace tutti
