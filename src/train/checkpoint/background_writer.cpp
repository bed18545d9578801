#include "train/checkpoint/background_writer.h"

#include <utility>

namespace tutti {

BackgroundWriter::BackgroundWriter() : thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  state_.change([](State& state) { state.ends = true; });
}

void BackgroundWriter::run() {
  for (;;) {
    const auto work = state_.wait([](const State& state) { return state.work || state.ends; },
                                  [](State& state) { return state.work; });
    if (!work) return;
    auto done = work();
    state_.change([&](State& state) {
      state.work = nullptr;
      if (!done) state.last = std::move(done);
    });
  }
}

Result<void> BackgroundWriter::write(std::function<Result<void>()> work) {
  auto before = finish();
  if (before) state_.change([&](State& state) { state.work = std::move(work); });
  return before;
}

Result<void> BackgroundWriter::finish() {
  return state_.wait([](const State& state) { return !state.work; },
                     [](State& state) { return std::exchange(state.last, Result<void>{}); });
}

}  // namespace tutti
