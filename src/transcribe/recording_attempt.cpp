#include "transcribe/recording_attempt.h"

#include <algorithm>
#include <utility>

namespace tutti {

Seconds RecordingAttempt::length() const {
  return state_.with([](const State& state) { return state.length; });
}

void RecordingAttempt::set_decoded(Seconds length) {
  state_.with([&](State& state) {
    state.length = length;
    state.decoded = true;
  });
}

bool RecordingAttempt::is_decoded() const {
  return state_.with([](const State& state) { return state.decoded; });
}

double RecordingAttempt::share() const {
  const Seconds whole = length();
  return whole > Seconds(0) ? std::min(1.0, position() / whole) : 0;
}

const TranscriptionContext* RecordingAttempt::context(const std::function<Serving()>& make) {
  return state_.with([&](State& state) -> const TranscriptionContext* {
    if (settled_) return nullptr;
    if (!state.context) {
      Serving made = make();
      state.engine = std::move(made.engine);
      state.engine->correct_length(state.length);
      state.context.emplace(std::move(made.context));
    }
    return &*state.context;
  });
}

std::optional<std::string> RecordingAttempt::devices() const {
  return state_.with(
      [](const State& state) { return state.engine ? std::optional(state.engine->where()) : std::nullopt; });
}

JobEngine::Use RecordingAttempt::use() const {
  return state_.with([](const State& state) { return state.engine ? state.engine->use() : JobEngine::Use{}; });
}

void RecordingAttempt::cancel() {
  state_.with([](State& state) {
    if (state.engine) state.engine->cancel();
  });
}

void RecordingAttempt::release_engine() {
  const auto released = state_.with([](State& state) { return std::move(state.engine); });  // it goes under no lock
}

}  // namespace tutti
