#include "train/checkpoint/background_writer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <utility>

#include "base/field_names.h"
#include "base/log.h"
#include "model/cpu/compute_team.h"
#include "model/gpu/out_of_memory.h"
#include "train/optimiser_step/step_memory.h"

namespace tutti {

std::vector<Parameter> copies(const std::vector<Parameter>& tensors) {
  const c10::AutoGradMode no_gradients(false);
  std::vector<Parameter> made;
  for (const auto& tensor : tensors)
    made.push_back({tensor.name, tensor.value.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)});
  return made;
}

Result<void> write_copies(const std::string& what, const std::function<Result<void>()>& write) {
  const OutsideMemoryLimit on_the_host;
  try {
    return write();
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    return tl::unexpected(
        failure_of(problem, what + " could not be copied to be written",
                   "The newest checkpoint is whole: go on with " + field("resume") + " where there is more memory"));
  }
}

namespace {

/// Missing memory, for a copy in another type, say, is handled like missing space on the disk.
Result<void> done(const std::string& kind, const std::function<Result<void>()>& work) {
  const OutsideMemoryLimit on_the_host;
  try {
    return work();
  } catch (const std::exception& problem) {
    return tl::unexpected(
        failure_of(problem, "the " + kind + " could not be written", "Let this process have more memory (ulimit -v)"));
  }
}

}  // namespace

BackgroundWriter::BackgroundWriter() : thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  state_.change([](State& state) { state.ends = true; });
}

/// A piece is moved, never copied: there may be no memory for another, and it is gone before the next one is made.
void BackgroundWriter::run() {
  use_one_torch_thread();
  for (;;) {
    auto [kind, work] =
        state_.wait([](const State& state) { return state.work || state.ends; },
                    [](State& state) { return std::pair(state.kind, std::exchange(state.work, nullptr)); });
    if (!work) return;
    const auto written = done(kind, work);
    work = nullptr;
    if (!written) log(Level::error, written.error().text());
    state_.change([&](State& state) {
      state.is_busy = false;
      if (written) {
        state.failures.erase(state.kind);
        return;
      }
      auto& failure = state.failures[state.kind];
      failure.error = written.error();
      ++failure.in_row;
    });
  }
}

/// The error of a kind of which so many pieces or more have failed in a row, when the writer is free.
Result<void> BackgroundWriter::wait_for_work(int failures) {
  return state_.wait([](const State& state) { return !state.is_busy; },
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
      state.is_busy = true;
    });
  return before;
}

Result<void> BackgroundWriter::finish() {
  return wait_for_work(1);
}

Result<void> BackgroundWriter::finish(const std::string& kind) {
  return state_.wait([](const State& state) { return !state.is_busy; },
                     [&kind](const State& state) -> Result<void> {
                       const auto failed = state.failures.find(kind);
                       if (failed == state.failures.end()) return {};
                       return tl::unexpected<Error>(failed->second.error);
                     });
}

}  // namespace tutti
