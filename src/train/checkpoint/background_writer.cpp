#include "train/checkpoint/background_writer.h"

#include <utility>

#include "base/log.h"

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
    const auto done = work();
    if (!done) log(Level::error, done.error().text());
    state_.change([&](State& state) {
      state.work = nullptr;
      if (done) {
        state.failures.erase(state.kind);
        return;
      }
      auto& failure = state.failures[state.kind];
      failure.error = done.error();
      ++failure.in_row;
    });
  }
}

/// The error of a kind of which so many pieces or more have failed in a row, when the writer is free.
Result<void> BackgroundWriter::wait_for_work(int failures) {
  return state_.wait([](const State& state) { return !state.work; },
                     [failures](const State& state) -> Result<void> {
                       for (const auto& [kind, failure] : state.failures)
                         if (failure.in_row >= failures) return tl::unexpected<Error>(failure.error);
                       return {};
                     });
}

Result<void> BackgroundWriter::write(const std::string& kind, std::function<Result<void>()> work) {
  auto before = wait_for_work(2);
  if (before)
    state_.change([&](State& state) {
      state.work = std::move(work);
      state.kind = kind;
    });
  return before;
}

Result<void> BackgroundWriter::finish() {
  return wait_for_work(1);
}

}  // namespace tutti
