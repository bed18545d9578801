#include "transcribe/service/request_queue.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

constexpr double kLatest = 0.1;  // weight of the last request in the mean of their times

int bulk(const SpeechRun& run) {
  return run.request().urgency != JobClass::interactive ? 1 : 0;
}

}  // namespace

RequestQueue::Run RequestQueue::add(SpeechRequest request, Seconds longest) {
  Run run;
  state_.change([&](State& state) {
    run = std::make_shared<SpeechRun>(++state.last_id, longest, std::move(request));
    if (state.closed)
      run->cancel();
    else
      state.waiting.push(run->request().urgency, run->request().client, run);
  });
  return run;
}

RequestQueue::Run RequestQueue::next() {
  return state_.wait([&](const State& state) { return state.closed || state.waiting.size(admitted(state)) > 0; },
                     [&](State& state) -> Run {
                       if (state.closed) return nullptr;
                       auto run = *state.waiting.pop(admitted(state));
                       state.running.push_back(run);
                       state.bulk += static_cast<std::size_t>(bulk(*run));
                       return run;
                     });
}

void RequestQueue::record(const SpeechRun& run, const FileOutcome& outcome, Seconds took) {
  const Seconds whole = Clock::real().now() - run.submitted;
  times_.whole.record(whole.count());
  times_.waiting.record((whole - took).count());
  times_.encoder.record(outcome.spent.encoder.count());
  times_.decoder.record(outcome.spent.decoder.count());
  if (!outcome.losses.empty()) state_.with([](State& state) { ++state.ended.with_losses; });
}

void RequestQueue::end(const Run& run, const Result<Seconds>& audio, Seconds took) {
  const bool cancelled = !audio && audio.error().fault == Fault::cancelled;
  state_.change([&](State& state) {
    std::erase(state.running, run);
    state.bulk -= static_cast<std::size_t>(bulk(*run));
    state.ended.audio_done += audio.value_or(run->position());  // so that the sum never falls
    ++(audio ? state.ended.done : cancelled ? state.ended.cancelled : state.ended.failed);
    if (!cancelled) state.mean_time = state.mean_time * (1 - kLatest) + took * kLatest;
  });
}

bool RequestQueue::cancel(const Run& run) {
  run->cancel();
  bool waited = false;
  state_.change([&](State& state) {
    waited = state.waiting.remove(run);
    state.ended.cancelled += waited ? 1 : 0;
  });
  return waited;
}

std::vector<RequestQueue::Run> RequestQueue::close() {
  std::vector<Run> waiting, running;
  state_.with([&](State& state) {
    state.closed = true;
    while (auto run = state.waiting.pop()) waiting.push_back(std::move(*run));
    running = state.running;
  });
  for (const auto& run : running) run->cancel();
  state_.change([](State&) {});
  return waiting;
}

RequestQueue::Core::Core(RequestQueue& queue, const Run& run) : state_(queue.state_), bulk_(bulk(*run)) {
  const int most = queue.cores_ + 1, most_bulk = std::max(1, queue.cores_ - 1);
  state_.wait(
      [&](const State& now) {
        return run->cancelled() || (now.cores < most && (bulk_ == 0 || now.bulk_cores < most_bulk));
      },
      [&](State& now) {
        ++now.cores;
        now.bulk_cores += bulk_;
      });
}

RequestQueue::Core::~Core() {
  state_.change([&](State& now) {
    --now.cores;
    now.bulk_cores -= bulk_;
  });
}

SpeechLoad RequestQueue::load() const {
  return state_.with([&](const State& state) {
    SpeechLoad load = state.ended;
    for (const Run& run : state.running) load.audio_done += run->position();
    load.running = state.running.size();
    load.waiting = state.waiting.size();
    load.expected_wait = state.mean_time * (static_cast<double>(load.waiting) /
                                            static_cast<double>(std::max<std::size_t>(1, most_bulk_)));
    return load;
  });
}

std::vector<RequestQueue::Run> RequestQueue::shown() const {
  constexpr std::size_t kShown = 100;
  return state_.with([&](const State& state) {
    std::vector<Run> shown = state.running;
    state.waiting.each([&](const Run& run) {
      if (shown.size() < kShown) shown.push_back(run);
    });
    return shown;
  });
}

RequestQueue::Run RequestQueue::find(const std::string& id) const {
  return state_.with([&](const State& state) {
    Run found;
    const auto look = [&](const Run& run) {
      if (run->id() == id) found = run;
    };
    std::ranges::for_each(state.running, look);
    state.waiting.each(look);
    return found;
  });
}

bool RequestQueue::wait_until_idle(Seconds most) {
  return state_.wait_for(most, [](const State& state) { return state.running.empty() && state.waiting.size() == 0; });
}

}  // namespace tutti
